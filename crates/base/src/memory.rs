//! Memory requested from the system with advice.

use rustix::mm::{Advice, madvise};

/// The size of a huge page.
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// Asks the system to put `memory` on huge pages where it can: for large tables with random access, which would need
/// many entries of the translation cache. If the system cannot, nothing changes.
pub fn prefer_huge_pages(memory: &mut [u8]) {
    let skipped = memory.as_ptr().align_offset(HUGE_PAGE_BYTES);
    let Some(rest) = memory.len().checked_sub(skipped) else { return };
    let bytes = rest / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
    if bytes == 0 {
        return;
    }
    let pages = memory[skipped..skipped + bytes].as_mut_ptr().cast();
    // Memory is used as before whether the advice is taken or not.
    #[expect(unsafe_code, reason = "no safe call gives this advice")]
    // SAFETY: the pages are wholly inside `memory`, which is ours, and the advice changes no byte.
    let _ = unsafe { madvise(pages, bytes, Advice::LinuxHugepage) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_changes_no_byte() {
        for length in [0, 1, HUGE_PAGE_BYTES - 1, 5 * HUGE_PAGE_BYTES + 7] {
            let mut memory = vec![7; length];
            prefer_huge_pages(&mut memory);
            assert!(memory.iter().all(|byte| *byte == 7));
        }
    }
}

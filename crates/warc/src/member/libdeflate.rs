//! libdeflate with the one call that its safe wrapper lacks: where in the input a member ends.
//!
//! Members of a file follow each other without a table of their lengths, so a reader that decompresses a member whole
//! must learn where the next one begins. libdeflate returns that (`libdeflate_gzip_decompress_ex`), but the crate
//! `libdeflater` does not.
#![expect(unsafe_code, reason = "the call exists only in C; it is wrapped here and nowhere else")]

use libdeflate_sys::{
    libdeflate_alloc_decompressor, libdeflate_decompressor, libdeflate_free_decompressor,
    libdeflate_gzip_decompress_ex, libdeflate_result_LIBDEFLATE_INSUFFICIENT_SPACE as INSUFFICIENT_SPACE,
    libdeflate_result_LIBDEFLATE_SUCCESS as SUCCESS,
};
use std::fmt;
use std::ptr::NonNull;

/// Decompresses whole members.
///
/// **Invariant:** the pointer came from libdeflate and has no other owner.
pub(super) struct Decompressor(NonNull<libdeflate_decompressor>);

/// Compressed and uncompressed length of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unpacked {
    pub(super) taken: usize,
    pub(super) made: usize,
}

/// Why a member could not be unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// It ends past the end of the input, or is damaged.
    Input,
    /// It holds more than the room for it.
    Room,
}

impl Decompressor {
    pub(super) fn new() -> Self {
        // SAFETY: the call has no conditions.
        let pointer = unsafe { libdeflate_alloc_decompressor() };
        Self(NonNull::new(pointer).expect("there is memory for a decompressor"))
    }

    /// Unpacks the gzip member at the beginning of `input` and checks its checksum and length.
    pub(super) fn gzip(&mut self, input: &[u8], room: &mut [u8]) -> Result<Unpacked, Failure> {
        let (mut taken, mut made) = (0, 0);
        // SAFETY: the decompressor is alive and ours alone (`&mut self`); libdeflate reads at most `input.len()` bytes
        // of `input`, writes at most `room.len()` bytes to `room`, and one number to each of `taken` and `made`, all of
        // which are valid for that. It keeps none of the pointers.
        let result = unsafe {
            libdeflate_gzip_decompress_ex(
                self.0.as_ptr(),
                input.as_ptr().cast(),
                input.len(),
                room.as_mut_ptr().cast(),
                room.len(),
                &raw mut taken,
                &raw mut made,
            )
        };
        match result {
            SUCCESS => Ok(Unpacked { taken, made }),
            INSUFFICIENT_SPACE => Err(Failure::Room),
            _ => Err(Failure::Input),
        }
    }
}

impl Drop for Decompressor {
    fn drop(&mut self) {
        // SAFETY: the pointer came from libdeflate and is not used again.
        unsafe { libdeflate_free_decompressor(self.0.as_ptr()) }
    }
}

// SAFETY: a decompressor is plain memory without ties to a thread; libdeflate asks only that no two threads use one at
// once, and using it takes `&mut self`.
unsafe impl Send for Decompressor {}
// SAFETY: nothing can be done with a shared one.
unsafe impl Sync for Decompressor {}

impl fmt::Debug for Decompressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Decompressor")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;
    use crate::member::Deflate;

    #[test]
    fn a_member_tells_where_it_ends() {
        let content = b"to be or not to be".repeat(100);
        let mut file = Vec::new();
        Deflate::new(Level::DEFAULT).append(&content, &mut file);
        let length = file.len();
        file.extend_from_slice(b"whatever follows");
        let mut decompressor = Decompressor::new();
        let mut room = vec![0; content.len()];
        let unpacked = decompressor.gzip(&file, &mut room);
        assert_eq!(unpacked, Ok(Unpacked { taken: length, made: content.len() }));
        assert_eq!(room, content);
        assert_eq!(decompressor.gzip(&file, &mut room[1..]), Err(Failure::Room));
        for cut in 0..length {
            assert_eq!(decompressor.gzip(&file[..cut], &mut room), Err(Failure::Input), "{cut}");
        }
    }
}

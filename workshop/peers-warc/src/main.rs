//! The `fastwarc` crate reading a file: `peers-warc FILE`, one object as result.
//!
//! It reads as fast as it can: heads of records are parsed, HTTP is not, records are used again in place, and content is
//! decompressed and counted but not kept.

use anyhow::{Context, Result};
use fastwarc::warc::iter::{ArchiveIterator, ArchiveIteratorOptions};
use rustix::time::{ClockId, clock_gettime};

fn main() -> Result<()> {
    let path = std::env::args().nth(1).context("name a file")?;
    let options = ArchiveIteratorOptions { parse_http: false, inplace: true, ..Default::default() };
    let before = cpu_seconds();
    let (mut records, mut content_bytes) = (0_u64, 0_u64);
    for record in ArchiveIterator::from_path_with_options(&path, options)? {
        records += 1;
        content_bytes += record?.borrow_mut().consume()? as u64;
    }
    let cpu_seconds = cpu_seconds() - before;
    println!("{{\"records\":{records},\"content_bytes\":{content_bytes},\"cpu_seconds\":{cpu_seconds}}}");
    Ok(())
}

/// Processor time of this process, in user space and in the kernel.
fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

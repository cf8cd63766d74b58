//! Compression bombs: a megabyte that becomes a gigabyte, and kilobytes that do so in two steps (H5).
//!
//! A gigabyte is never built. One block of compressed zeros that ends on a byte boundary is repeated, and the checksum
//! of the whole is put together from the checksum of a block.

use super::Place;
use crate::WebResponse;
use flate2::{Compress, Compression, Crc, FlushCompress};
use std::sync::OnceLock;

/// Decompressed bytes of one block, and the number of blocks: 1 GiB.
const BLOCK_BYTES: usize = 1024 * 1024;
const BLOCKS: usize = 1024;
const GZIP_HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 0xff];
/// An empty last block with fixed codes.
const DEFLATE_END: [u8; 2] = [0x03, 0x00];

/// Pages that grow when they are unpacked.
pub(super) fn answer(place: &Place<'_>) -> WebResponse {
    let html = |codings: &str, body: &[u8]| {
        WebResponse::plain(200, "text/html; charset=utf-8", body).with("Content-Encoding", codings)
    };
    match place.path() {
        "/" => place.home(&["/bomb.html", "/twice.html", "/four-times.html", "/bomb.gz", "/not-gzip.html"]),
        "/bomb.html" => html("gzip", once()),
        "/twice.html" => html("gzip, gzip", twice()),
        "/four-times.html" => html("gzip, gzip, gzip, gzip", &gzip(&gzip(twice()))),
        "/bomb.gz" => WebResponse::plain(200, "application/gzip", once()),
        "/not-gzip.html" => html("gzip", place.filler(500).as_bytes()),
        _ => place.missing(),
    }
}

/// A gigabyte of zeros in about a megabyte.
fn once() -> &'static [u8] {
    static BOMB: OnceLock<Vec<u8>> = OnceLock::new();
    BOMB.get_or_init(|| {
        let block = zeros();
        let mut bomb = Vec::with_capacity(block.len() * BLOCKS + 32);
        bomb.extend_from_slice(&GZIP_HEAD);
        (0..BLOCKS).for_each(|_| bomb.extend_from_slice(&block));
        bomb.extend_from_slice(&DEFLATE_END);
        let checksum = checksum();
        bomb.extend_from_slice(&checksum.sum().to_le_bytes());
        bomb.extend_from_slice(&checksum.amount().to_le_bytes());
        bomb
    })
}

/// The same, packed once more.
fn twice() -> &'static [u8] {
    static BOMB: OnceLock<Vec<u8>> = OnceLock::new();
    BOMB.get_or_init(|| gzip(once()))
}

/// One block of zeros as raw deflate that refers to nothing before it and ends on a byte boundary.
fn zeros() -> Vec<u8> {
    let mut out = Vec::with_capacity(16 * 1024);
    // Compressing into a large enough buffer cannot fail.
    let _ = Compress::new(Compression::best(), false).compress_vec(
        &vec![0; BLOCK_BYTES],
        &mut out,
        FlushCompress::Full,
    );
    out
}

fn checksum() -> Crc {
    let mut block = Crc::new();
    block.update(&vec![0; BLOCK_BYTES]);
    let mut all = Crc::new();
    (0..BLOCKS).for_each(|_| all.combine(&block));
    all
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Compression::best());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    // Writing to memory cannot fail.
    written.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn a_megabyte_unfolds_to_a_gigabyte_and_checks_out() {
        let bomb = once();
        assert!((900_000..10_000_000).contains(&bomb.len()), "{}", bomb.len());
        let mut decoder = flate2::read::GzDecoder::new(bomb);
        let mut buffer = vec![0; 1024 * 1024];
        let mut total = 0_usize;
        loop {
            match decoder.read(&mut buffer).unwrap() {
                0 => break,
                read => total += read,
            }
        }
        assert_eq!(total, BLOCKS * BLOCK_BYTES);
    }

    #[test]
    fn packed_twice_it_is_small_and_unfolds_to_the_first() {
        assert!(twice().len() < 100_000, "{}", twice().len());
        let mut first = Vec::new();
        flate2::read::GzDecoder::new(twice()).read_to_end(&mut first).unwrap();
        assert!(first == once());
    }
}

//! Removes HTTP transfer and content codings, within limits (H5).
//!
//! ```
//! let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n";
//! let content = coding::content_of(head, (&b"hi"[..]).into());
//! assert_eq!(content.whole().as_deref(), Some(&b"hi"[..]));
//! ```
//!
//! The archive keeps what came over the wire; decoding is for readers and stops at its caps, so that a small body can
//! never become a large one in memory. gzip, deflate, br and zstd are read, whatever was requested.
//!
//! **Invariant:** at most [`DECODED_BYTES_MAX`] are decoded; above [`DECODED_FREE_BYTES`] at most [`DECODED_RATIO_MAX`]
//! times what came over the wire; at most [`CODINGS_MAX`] codings deep. The ratio is checked at every step, so a bomb
//! is detected by its first megabytes.

use base::door::Exchange;
use base::http;
use base::limits::{CODINGS_MAX, DECODED_BYTES_MAX, DECODED_FREE_BYTES, DECODED_RATIO_MAX};
use std::borrow::Cow;

mod inflate;
mod read;

/// The largest window of brotli, which is filled before a byte is given out.
const BROTLI_WINDOW_BYTES: usize = 16 * 1024 * 1024;
/// How much is decoded at once.
const STEP_BYTES: usize = 32 * 1024;

/// Content with its codings removed, as far as possible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decoded<'a> {
    /// All of it.
    Whole(Cow<'a, [u8]>),
    /// Decoding stopped: it would have exceeded a cap.
    Capped(Cap),
    /// A coding that is not read here, lower case.
    Unknown(String),
    /// The content is truncated, or not in the stated coding.
    Broken {
        /// What could be decoded before that.
        got: Vec<u8>,
    },
}

/// A bound on decoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cap {
    /// The absolute size.
    Bytes,
    /// The ratio to the size on the wire.
    Ratio,
    /// The number of codings, or of gzip members.
    Layers,
}

impl<'a> Decoded<'a> {
    /// The content, if all of it is there.
    #[must_use]
    pub fn whole(self) -> Option<Cow<'a, [u8]>> {
        match self {
            Self::Whole(content) => Some(content),
            _ => None,
        }
    }
    /// The readable part of the content: all of it, or what came before a break; empty otherwise.
    #[must_use]
    pub fn readable(self) -> Cow<'a, [u8]> {
        match self {
            Self::Whole(content) => content,
            Self::Broken { got } => Cow::Owned(got),
            Self::Capped(_) | Self::Unknown(_) => Cow::Borrowed(&[]),
        }
    }
}

/// The content of an answer: chunk framing, transfer codings and content codings removed.
///
/// A body that cannot be read back from disk counts as truncated; storing it reports the cause.
#[must_use]
pub fn content(exchange: &Exchange) -> Decoded<'_> {
    content_within(exchange, DECODED_BYTES_MAX)
}

/// The same, given up as soon as it is longer than `bytes_max`; at once, where that is less than a coding makes in one
/// go.
#[must_use]
pub fn content_within(exchange: &Exchange, bytes_max: usize) -> Decoded<'_> {
    let caps = |wire_bytes| Caps::new(wire_bytes, bytes_max);
    match exchange.payload() {
        Ok(payload) if payload.len() > bytes_max => Decoded::Capped(Cap::Bytes),
        Ok(payload) => {
            let codings = codings(&exchange.response_head);
            let is_made_at_once =
                codings.iter().any(|coding| coding == "br") && bytes_max < BROTLI_WINDOW_BYTES;
            if is_made_at_once { Decoded::Capped(Cap::Bytes) } else { decode(payload, &codings, caps) }
        }
        Err(error) => {
            tracing::warn!(%error, "a body cannot be read back from disk");
            Decoded::Broken { got: Vec::new() }
        }
    }
}

/// The content of a payload (without chunk framing) under its response head, as an archive gives it back.
#[must_use]
pub fn content_of<'a>(response_head: &[u8], payload: Cow<'a, [u8]>) -> Decoded<'a> {
    decode(payload, &codings(response_head), |wire_bytes| Caps::new(wire_bytes, DECODED_BYTES_MAX))
}

/// The codings that a head names, in the order in which they were applied.
fn codings(response_head: &[u8]) -> Vec<String> {
    let listed = |name| http::fields(response_head, name).flat_map(|value| value.split(','));
    listed("content-encoding")
        .chain(listed("transfer-encoding"))
        .map(|coding| coding.trim().to_ascii_lowercase())
        .filter(|coding| !matches!(coding.as_str(), "" | "identity" | "chunked"))
        .collect()
}

/// Removes `codings`, the last one applied first.
fn decode<'a>(wire: Cow<'a, [u8]>, codings: &[String], caps: impl Fn(usize) -> Caps) -> Decoded<'a> {
    if codings.len() > CODINGS_MAX {
        return Decoded::Capped(Cap::Layers);
    }
    let caps = caps(wire.len());
    let mut content = wire;
    for coding in codings.iter().rev() {
        match remove(coding, &content, caps) {
            Decoded::Whole(decoded) => content = decoded,
            other => return other,
        }
    }
    Decoded::Whole(content)
}

/// How much may be decoded.
#[derive(Clone, Copy, Debug)]
struct Caps {
    /// What came over the wire.
    wire_bytes: usize,
    /// Up to here the ratio does not matter.
    free_bytes: usize,
    bytes_max: usize,
}

impl Caps {
    fn new(wire_bytes: usize, bytes_max: usize) -> Self {
        Self { wire_bytes, free_bytes: DECODED_FREE_BYTES, bytes_max: bytes_max.min(DECODED_BYTES_MAX) }
    }

    /// The bound that `got` bytes exceed when they were made from the first `read` of `all` bytes. The part read of a
    /// layer counts as the same share of the wire.
    fn exceeded(&self, got: usize, read: usize, all: usize) -> Option<Cap> {
        let wide = |number: usize| number as u128;
        let by_ratio = wide(self.wire_bytes) * wide(DECODED_RATIO_MAX) * wide(read) / wide(all.max(1));
        if got > self.bytes_max {
            return Some(Cap::Bytes);
        }
        (wide(got) > by_ratio.max(wide(self.free_bytes))).then_some(Cap::Ratio)
    }
}

fn remove(coding: &str, bytes: &[u8], caps: Caps) -> Decoded<'static> {
    match coding {
        _ if bytes.is_empty() => Decoded::Whole(Cow::Borrowed(&[])),
        "gzip" | "x-gzip" => inflate::gunzip(bytes, caps),
        "deflate" => inflate::deflate(bytes, caps),
        "br" => read::unbrotli(bytes, caps),
        "zstd" => read::unzstd(bytes, caps),
        other => Decoded::Unknown(base::printable(other).into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inflate::GZIP_MEMBERS_MAX;
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
    use std::io::Write;

    fn gzip(content: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    fn zlib(content: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    fn raw_deflate(content: &[u8]) -> Vec<u8> {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    fn brotli(content: &[u8]) -> Vec<u8> {
        let mut coded = Vec::new();
        let parameters = brotli::enc::BrotliEncoderParams { quality: 5, ..Default::default() };
        brotli::BrotliCompress(&mut &*content, &mut coded, &parameters).unwrap();
        coded
    }

    fn zstd(content: &[u8]) -> Vec<u8> {
        zstd::bulk::compress(content, 3).unwrap()
    }

    fn decoded<'a>(fields: &str, payload: &'a [u8]) -> Decoded<'a> {
        content_of(format!("HTTP/1.1 200 OK\r\n{fields}\r\n").as_bytes(), Cow::Borrowed(payload))
    }

    #[track_caller]
    fn check(fields: &str, payload: &[u8], expected: &[u8]) {
        assert_eq!(decoded(fields, payload), Decoded::Whole(Cow::Borrowed(expected)), "{fields}");
    }

    #[test]
    fn every_coding_we_ask_for_and_its_variants_are_removed() {
        let page = "写し".repeat(1_000).into_bytes();
        check("", &page, &page);
        check("Content-Encoding: identity\r\n", &page, &page);
        check("Content-Encoding: gzip\r\n", &gzip(&page), &page);
        check("Content-Encoding: X-GZIP\r\n", &gzip(&page), &page);
        check("Content-Encoding: deflate\r\n", &zlib(&page), &page);
        check("Content-Encoding: deflate\r\n", &raw_deflate(&page), &page);
        check("Content-Encoding: deflate, gzip\r\n", &gzip(&zlib(&page)), &page);
        check(
            "Transfer-Encoding: gzip, chunked\r\nContent-Encoding: deflate\r\n",
            &gzip(&zlib(&page)),
            &page,
        );
        check("Content-Encoding: gzip\r\n", &[gzip(&page), gzip(&page)].concat(), &page.repeat(2));
        check("Content-Encoding: gzip\r\n", &[gzip(&page), vec![0; 9]].concat(), &page);
        check("Content-Encoding: gzip\r\n", b"", b"");
        check("Content-Encoding: br\r\n", &brotli(&page), &page);
        check("Content-Encoding: zstd\r\n", &zstd(&page), &page);
        check("Content-Encoding: zstd\r\n", &[zstd(&page), zstd(&page)].concat(), &page.repeat(2));
        check("Content-Encoding: br, zstd\r\n", &zstd(&brotli(&page)), &page);
        check("Content-Encoding: br\r\n", b"", b"");
    }

    #[test]
    fn content_that_breaks_off_gives_what_came_before() {
        let page: Vec<u8> =
            (0..200_000_u32).flat_map(|n| base::chance::mix(n.into()).to_le_bytes()).collect();
        let whole = gzip(&page);
        let Decoded::Broken { got } = decoded("Content-Encoding: gzip\r\n", &whole[..whole.len() / 2]) else {
            panic!()
        };
        assert!(got.len() > page.len() / 3 && page.starts_with(&got), "{}", got.len());
        assert_eq!(decoded("Content-Encoding: gzip\r\n", b"<html>"), Decoded::Broken { got: Vec::new() });
        for (name, whole) in [("br", brotli(&page)), ("zstd", zstd(&page))] {
            let cut = &whole[..whole.len() / 2];
            let Decoded::Broken { got } = decoded(&format!("Content-Encoding: {name}\r\n"), cut) else {
                panic!("{name}")
            };
            assert!(got.len() > page.len() / 3 && page.starts_with(&got), "{name}: {}", got.len());
            assert_eq!(
                decoded(&format!("Content-Encoding: {name}\r\n"), b"<html>"),
                Decoded::Broken { got: Vec::new() },
                "{name}"
            );
        }
        assert_eq!(decoded("Content-Encoding: sdch\r\n", b"x"), Decoded::Unknown("sdch".to_owned()));
        let mut wrong_checksum = gzip(b"page");
        let at = wrong_checksum.len() - 8;
        wrong_checksum[at] ^= 1;
        assert_eq!(
            decoded("Content-Encoding: gzip\r\n", &wrong_checksum),
            Decoded::Broken { got: b"page".to_vec() }
        );
    }

    #[test]
    fn survives_h5_bombs_in_one_layer_and_in_three() {
        let blanks = vec![b' '; DECODED_FREE_BYTES + 1];
        let bomb = gzip(&blanks);
        assert!(bomb.len() * DECODED_RATIO_MAX < blanks.len());
        assert_eq!(decoded("Content-Encoding: gzip\r\n", &bomb), Decoded::Capped(Cap::Ratio));
        let mut padded = gzip(&vec![b' '; 2 * DECODED_FREE_BYTES]);
        padded.resize(1024 * 1024, b'x');
        let read = Decoded::Capped(Cap::Ratio);
        assert_eq!(decoded("Content-Encoding: gzip\r\n", &padded), read, "padding does not hide it");
        check("Content-Encoding: gzip\r\n", &gzip(&blanks[1..]), &blanks[1..]);
        for (name, bomb) in [("br", brotli(&blanks)), ("zstd", zstd(&blanks))] {
            assert!(bomb.len() * DECODED_RATIO_MAX < blanks.len(), "{name}");
            let field = format!("Content-Encoding: {name}\r\n");
            assert_eq!(decoded(&field, &bomb), Decoded::Capped(Cap::Ratio), "{name}");
        }
        check("Content-Encoding: br\r\n", &brotli(&blanks[1..]), &blanks[1..]);
        check("Content-Encoding: zstd\r\n", &zstd(&blanks[1..]), &blanks[1..]);
        let nested = gzip(&zlib(&bomb));
        assert_eq!(
            decoded("Content-Encoding: gzip, deflate, gzip\r\n", &nested),
            Decoded::Capped(Cap::Ratio)
        );
        assert_eq!(
            decoded("Content-Encoding: gzip, gzip, gzip, gzip\r\n", &bomb),
            Decoded::Capped(Cap::Layers)
        );
        let members = gzip(b"").repeat(GZIP_MEMBERS_MAX + 1);
        assert_eq!(decoded("Content-Encoding: gzip\r\n", &members), Decoded::Capped(Cap::Layers));
    }

    #[test]
    fn survives_h5_a_window_larger_than_http_allows() {
        use std::io::Write as _;
        let parameters = brotli::enc::BrotliEncoderParams {
            quality: 5,
            lgwin: 28,
            large_window: true,
            ..Default::default()
        };
        let mut wide = Vec::new();
        brotli::BrotliCompress(&mut &vec![b' '; 1 << 20][..], &mut wide, &parameters).unwrap();
        assert_eq!(wide[0] & 0x7f, 0x11);
        assert_eq!(decoded("Content-Encoding: br\r\n", &wide), Decoded::Broken { got: Vec::new() });
        let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
        encoder.window_log(27).unwrap();
        encoder.include_contentsize(false).unwrap();
        encoder.write_all(b"page").unwrap();
        let wide = encoder.finish().unwrap();
        assert_eq!(decoded("Content-Encoding: zstd\r\n", &wide), Decoded::Broken { got: Vec::new() });
    }

    #[test]
    fn survives_h5_a_large_body_at_an_ordinary_ratio() {
        let caps = |wire_bytes| Caps { wire_bytes, free_bytes: 1_000, bytes_max: 10_000 };
        let gzip_only = ["gzip".to_owned()];
        let mut chance = base::Chance::new(7);
        let page: Vec<u8> = (0..10_001).map(|_| *chance.pick(b"abcd")).collect();
        let payload = gzip(&page);
        assert!(payload.len() * DECODED_RATIO_MAX > 10_000);
        let over = decode(Cow::Borrowed(&payload), &gzip_only, caps);
        assert_eq!(over, Decoded::Capped(Cap::Bytes));
        let payload = gzip(&page[1..]);
        assert_eq!(
            decode(Cow::Borrowed(&payload), &gzip_only, caps),
            Decoded::Whole(Cow::Borrowed(&page[1..]))
        );
    }
}

//! What is measured of the bytes of a document, whatever they are.

use super::json;
use crate::ScanDocument;
use base::{ContentDigest, Sha1Digest};
use sha2::Digest as _;

/// Appends how many bytes there are of it.
pub(super) fn sizes(document: &ScanDocument<'_>, out: &mut Vec<u8>) {
    let content_bytes = document.body.len() as u64;
    out.extend_from_slice(b"{\"stored\":");
    json::number(out, document.stored_bytes);
    out.extend_from_slice(b",\"payload\":");
    json::number(out, document.payload_bytes);
    out.extend_from_slice(b",\"content\":");
    json::number(out, content_bytes);
    out.push(b'}');
}

/// Appends the digests of its body.
pub(super) fn digests(document: &ScanDocument<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"sha1\":\"");
    hexadecimal(out, Sha1Digest::of(&[document.body]).as_bytes());
    out.extend_from_slice(b"\",\"sha256\":\"");
    hexadecimal(out, &sha2::Sha256::digest(document.body));
    out.extend_from_slice(b"\",\"blake3\":\"");
    hexadecimal(out, ContentDigest::of(document.body).as_bytes());
    out.extend_from_slice(b"\"}");
}

fn hexadecimal(out: &mut Vec<u8>, bytes: &[u8]) {
    let digit = |four: u8| if four < 10 { b'0' + four } else { b'a' + four - 10 };
    out.extend(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]));
}

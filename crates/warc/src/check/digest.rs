//! Labelled digests, `algorithm:value`, and the algorithms that can be computed again.
//!
//! The standard recommends no algorithm and no way to write the value. The community's labels are known here, and base
//! 16, base 32 and base 64 are distinguished by length and letters.

use super::head::is_token;
use super::report::shown;
use md5::Md5;
use sha1::{Digest as _, Sha1};
use sha2::{Sha224, Sha256, Sha384, Sha512};

/// A digest that a record claims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Claim {
    /// It can be computed again.
    Known(Algorithm, Vec<u8>),
    /// The algorithm is unknown.
    Unknown(String),
}

impl Claim {
    /// Reads a value of `WARC-Block-Digest` or `WARC-Payload-Digest`.
    pub(super) fn read(value: &str) -> Result<Self, String> {
        let refuse = |what: &str| Err(format!("`{}` {what}; expected `algorithm:value`", shown(value)));
        let Some((label, digest)) = value.split_once(':') else { return refuse("has no colon") };
        if label.is_empty() || !label.bytes().all(is_token) {
            return refuse("names no algorithm");
        }
        // Padding of base 32 and letters of base 64 are not token characters, but common writers use them.
        if digest.is_empty() || !digest.bytes().all(|b| is_token(b) || b"=/".contains(&b)) {
            return refuse("has no value that is one word");
        }
        let Some(algorithm) = Algorithm::called(label) else { return Ok(Self::Unknown(label.to_owned())) };
        match decode(digest, algorithm.bytes()) {
            Some(bytes) => Ok(Self::Known(algorithm, bytes)),
            None => Err(format!(
                "`{}` is not a value of `{label}`, which has `{}` bytes in base 16, 32 or 64",
                shown(digest),
                algorithm.bytes()
            )),
        }
    }
}

/// An algorithm that is known here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Algorithm {
    Md5,
    Sha1,
    Sha224,
    Sha256,
    Sha384,
    Sha512,
    Blake3,
}

impl Algorithm {
    fn called(label: &str) -> Option<Self> {
        match label.to_ascii_lowercase().as_str() {
            "md5" => Some(Self::Md5),
            "sha1" | "sha-1" => Some(Self::Sha1),
            "sha224" | "sha-224" => Some(Self::Sha224),
            "sha256" | "sha-256" => Some(Self::Sha256),
            "sha384" | "sha-384" => Some(Self::Sha384),
            "sha512" | "sha-512" => Some(Self::Sha512),
            "blake3" => Some(Self::Blake3),
            _ => None,
        }
    }
    fn bytes(self) -> usize {
        match self {
            Self::Md5 => 16,
            Self::Sha1 => 20,
            Self::Sha224 => 28,
            Self::Sha256 | Self::Blake3 => 32,
            Self::Sha384 => 48,
            Self::Sha512 => 64,
        }
    }
}

/// A digest while it is computed.
#[derive(Clone)]
pub(super) enum Hasher {
    Md5(Md5),
    Sha1(Sha1),
    Sha224(Sha224),
    Sha256(Sha256),
    Sha384(Sha384),
    Sha512(Sha512),
    Blake3(Box<blake3::Hasher>),
}

impl Hasher {
    pub(super) fn new(algorithm: Algorithm) -> Self {
        match algorithm {
            Algorithm::Md5 => Self::Md5(Md5::new()),
            Algorithm::Sha1 => Self::Sha1(Sha1::new()),
            Algorithm::Sha224 => Self::Sha224(Sha224::new()),
            Algorithm::Sha256 => Self::Sha256(Sha256::new()),
            Algorithm::Sha384 => Self::Sha384(Sha384::new()),
            Algorithm::Sha512 => Self::Sha512(Sha512::new()),
            Algorithm::Blake3 => Self::Blake3(Box::new(blake3::Hasher::new())),
        }
    }
    pub(super) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Md5(hasher) => hasher.update(bytes),
            Self::Sha1(hasher) => hasher.update(bytes),
            Self::Sha224(hasher) => hasher.update(bytes),
            Self::Sha256(hasher) => hasher.update(bytes),
            Self::Sha384(hasher) => hasher.update(bytes),
            Self::Sha512(hasher) => hasher.update(bytes),
            Self::Blake3(hasher) => {
                hasher.update(bytes);
            }
        }
    }
    pub(super) fn finish(self) -> Vec<u8> {
        match self {
            Self::Md5(hasher) => hasher.finalize().to_vec(),
            Self::Sha1(hasher) => hasher.finalize().to_vec(),
            Self::Sha224(hasher) => hasher.finalize().to_vec(),
            Self::Sha256(hasher) => hasher.finalize().to_vec(),
            Self::Sha384(hasher) => hasher.finalize().to_vec(),
            Self::Sha512(hasher) => hasher.finalize().to_vec(),
            Self::Blake3(hasher) => hasher.finalize().as_bytes().to_vec(),
        }
    }
}

impl std::fmt::Debug for Hasher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hasher")
    }
}

/// The bytes as they are printed in findings.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The `length` bytes that `text` stands for in base 16, 32 or 64, whichever fits.
fn decode(text: &str, length: usize) -> Option<Vec<u8>> {
    let letters = text.trim_end_matches('=');
    [(4, hex_value as fn(u8) -> Option<u8>), (5, base32_value), (6, base64_value)]
        .into_iter()
        .filter(|(bits, _)| letters.len() == (length * 8).div_ceil(*bits))
        .find_map(|(bits, value)| unpack(letters, bits, value))
}

fn unpack(letters: &str, bits: usize, value: fn(u8) -> Option<u8>) -> Option<Vec<u8>> {
    let (mut bytes, mut held, mut held_bits) = (Vec::new(), 0_u32, 0);
    for letter in letters.bytes() {
        held = held << bits | u32::from(value(letter)?);
        held_bits += bits;
        if held_bits >= 8 {
            held_bits -= 8;
            bytes.push(u8::try_from(held >> held_bits & 0xff).ok()?);
        }
    }
    Some(bytes)
}

fn hex_value(letter: u8) -> Option<u8> {
    char::from(letter).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

fn base32_value(letter: u8) -> Option<u8> {
    match letter.to_ascii_uppercase() {
        upper @ b'A'..=b'Z' => Some(upper - b'A'),
        digit @ b'2'..=b'7' => Some(digit - b'2' + 26),
        _ => None,
    }
}

fn base64_value(letter: u8) -> Option<u8> {
    match letter {
        b'A'..=b'Z' => Some(letter - b'A'),
        b'a'..=b'z' => Some(letter - b'a' + 26),
        b'0'..=b'9' => Some(letter - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `value` is the digest of nothing.
    #[track_caller]
    fn check(value: &str) {
        match Claim::read(value) {
            Ok(Claim::Known(algorithm, bytes)) => {
                assert_eq!(Hasher::new(algorithm).finish(), bytes, "{value}");
            }
            other => panic!("{value}: {other:?}"),
        }
    }

    #[test]
    fn digests_of_nothing_in_every_encoding() {
        check("sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
        check("SHA-1:3i42h3s6nnfq2msvx7xzkyayscx5qbyj");
        check("sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709");
        check("sha1:2jmj7l5rSw0yVb/vlWAYkK/YBwk=");
        check("md5:d41d8cd98f00b204e9800998ecf8427e");
        check("md5:2QOYZWMPACZAJ2MABGMOZ6CCPY======");
        check("sha224:d14a028c2a3a2bc9476102bb288234c415a2b01f828ea62ac5b3e42f");
        check("sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        check("sha256:47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU");
        check("sha256:4OYMIQUY7QOBJGX36TEJS35ZEQT24QPEMSNZGTFESWMRW6CSXBKQ====");
        check(
            "sha384:38b060a751ac96384cd9327eb1b1e36a21fdb71114be07434c0cc7bf63f6e1da274edebfe76f65fbd51ad2f14898b95b",
        );
        check(
            "sha512:cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e",
        );
        check("blake3:af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262");
    }

    #[test]
    fn other_texts_are_not_digests() {
        for wrong in [
            "",
            "sha1",
            "sha1:",
            ":3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
            "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
            "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBY",
            "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBY1",
            "sha1:AB2CD3EF4GH5IJ6KL7MN8OPQ",
            "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ x",
            "sha1: 3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
            "sha 1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
            "md5:d41d8cd98f00b204e9800998ecf8427g",
            "sha256:e3b0",
        ] {
            assert!(Claim::read(wrong).is_err(), "{wrong}");
        }
        assert_eq!(Claim::read("xxh3:0011"), Ok(Claim::Unknown("xxh3".to_owned())));
    }
}

//! Digests: SHA-1 where readers of WARC expect it, BLAKE3 elsewhere (D8).

use sha1::Digest as _;
use std::fmt;
use std::str::FromStr;

const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// The digest that WARC files carry, printed as `sha1:` and 32 letters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sha1Digest([u8; 20]);

impl Sha1Digest {
    /// The digest of the concatenated pieces.
    #[must_use]
    pub fn of(pieces: &[&[u8]]) -> Self {
        let mut hasher = sha1::Sha1::new();
        pieces.iter().for_each(|piece| hasher.update(piece));
        Self(hasher.finalize().into())
    }
    /// The digest from its stored bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 20]) -> Self {
        Self(bytes)
    }
    /// The 20 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 20] {
        &self.0
    }
}

impl fmt::Display for Sha1Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = *b"sha1:................................";
        for (five, letters) in self.0.chunks(5).zip(text[5..].chunks_mut(8)) {
            let bits = five.iter().fold(0_u64, |bits, byte| (bits << 8) | u64::from(*byte));
            for (place, letter) in letters.iter_mut().rev().enumerate() {
                *letter = BASE32[((bits >> (place * 5)) & 31) as usize];
            }
        }
        f.write_str(std::str::from_utf8(&text).unwrap_or_default())
    }
}

impl fmt::Debug for Sha1Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Why a text is not a SHA-1 digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a SHA-1 digest; it is `sha1:` and 32 letters of base 32, or 40 hexadecimal digits")]
pub struct DigestError(String);

impl FromStr for Sha1Digest {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, DigestError> {
        let refuse = || DigestError(text.to_owned());
        let letters = match text.split_once(':') {
            Some((name, letters)) if name.eq_ignore_ascii_case("sha1") => letters,
            Some(_) => return Err(refuse()),
            None => text,
        };
        let (bits, decode): (u32, fn(u8) -> Option<u8>) = match letters.len() {
            32 => (5, base32_value),
            40 => (4, hex_value),
            _ => return Err(refuse()),
        };
        unpack(letters.as_bytes(), bits, decode).map(Self).ok_or_else(refuse)
    }
}

fn unpack(letters: &[u8], bits: u32, decode: fn(u8) -> Option<u8>) -> Option<[u8; 20]> {
    let mut bytes = [0; 20];
    let mut next = bytes.iter_mut();
    let (mut held, mut held_bits) = (0_u32, 0);
    for letter in letters {
        held = (held << bits) | u32::from(decode(*letter)?);
        held_bits += bits;
        if held_bits >= 8 {
            held_bits -= 8;
            *next.next()? = u8::try_from((held >> held_bits) & 0xff).ok()?;
        }
    }
    Some(bytes)
}

fn base32_value(letter: u8) -> Option<u8> {
    match letter.to_ascii_uppercase() {
        upper @ b'A'..=b'Z' => Some(upper - b'A'),
        digit @ b'2'..=b'7' => Some(digit - b'2' + 26),
        _ => None,
    }
}

fn hex_value(letter: u8) -> Option<u8> {
    char::from(letter).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

/// The digest of a page's content with every coding removed. A page has changed if it differs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentDigest([u8; 32]);

impl ContentDigest {
    /// The digest of `content`.
    #[must_use]
    pub fn of(content: &[u8]) -> Self {
        Self(*blake3::hash(content).as_bytes())
    }
    /// The 32 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for ContentDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("blake3:")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_of_nothing_is_the_well_known_one() {
        assert_eq!(Sha1Digest::of(&[]).to_string(), "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
        assert_eq!(Sha1Digest::of(&[b"a", b"b"]), Sha1Digest::of(&[b"ab"]));
    }

    #[test]
    fn both_spellings_are_read() {
        let digest = Sha1Digest::of(&[b"utsushi"]);
        let hex: String = digest.as_bytes().iter().map(|b| format!("{b:02X}")).collect();
        assert_eq!(digest.to_string().parse(), Ok(digest));
        assert_eq!(digest.to_string().to_lowercase().parse(), Ok(digest));
        assert_eq!(hex.parse(), Ok(digest));
        assert_eq!(format!("SHA1:{hex}").parse(), Ok(digest));
        for wrong in ["", "sha1:", "md5:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", "1I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"]
        {
            assert!(wrong.parse::<Sha1Digest>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn content_digests_print_their_kind() {
        let text = ContentDigest::of(b"").to_string();
        assert!(text.starts_with("blake3:af1349b9") && text.len() == 7 + 64, "{text}");
    }
}

//! The name of a language.

use std::fmt;
use std::str::FromStr;

/// A language by its code: two letters of ISO 639-1 where it has them, otherwise three of ISO 639-3.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Language([u8; 3]);

impl Language {
    /// 日本語.
    pub const JAPANESE: Self = Self::two(*b"ja");
    /// English.
    pub const ENGLISH: Self = Self::two(*b"en");
    /// 中文.
    pub const CHINESE: Self = Self::two(*b"zh");
    /// 한국어.
    pub const KOREAN: Self = Self::two(*b"ko");

    /// The language of a two-letter code.
    pub(crate) const fn two(code: [u8; 2]) -> Self {
        Self([code[0], code[1], 0])
    }

    /// Parses a language tag such as `ja`, `en-GB`, `zh_TW` or `jpn`; subtags after the language are ignored.
    #[must_use]
    pub fn parse(tag: &str) -> Option<Self> {
        let code = tag.trim().split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
        match *code.as_bytes() {
            [a, b] if code.bytes().all(|byte| byte.is_ascii_lowercase()) => Some(Self::two([a, b])),
            [a, b, c] if code.bytes().all(|byte| byte.is_ascii_lowercase()) => Some(short([a, b, c])),
            _ => None,
        }
    }

    /// The code: `ja`, `en`, `haw`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        let bytes = self.0.strip_suffix(&[0]).unwrap_or(&self.0);
        // The bytes are ASCII letters.
        std::str::from_utf8(bytes).unwrap_or_default()
    }
}

/// The two-letter code of a language given by three letters, if it has one.
fn short(code: [u8; 3]) -> Language {
    let mut words = SHORT.split_ascii_whitespace().map(str::as_bytes);
    while let (Some(long), Some([a, b])) = (words.next(), words.next()) {
        if long == code {
            return Language::two([*a, *b]);
        }
    }
    Language(code)
}

/// Codes of three letters, each followed by the two letters used for it.
const SHORT: &str = "ara ar bul bg cat ca ces cs chi zh cmn zh cze cs dan da deu de dut nl ell el eng en fas fa fin \
    fi fra fr fre fr ger de gre el heb he hin hi hun hu ind id ita it jpn ja kor ko nld nl nor no \
    pol pl por pt ron ro rum ro rus ru spa es swe sv tha th tur tr ukr uk vie vi zho zh";

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Language({self})")
    }
}

/// Why a text is not a language tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoLanguage;

impl fmt::Display for NoLanguage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("this is no language code; write two or three letters, such as `ja` or `haw`")
    }
}

impl std::error::Error for NoLanguage {}

impl FromStr for Language {
    type Err = NoLanguage;

    fn from_str(text: &str) -> Result<Self, NoLanguage> {
        Self::parse(text).ok_or(NoLanguage)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(tag: &str, expected: Option<&str>) {
        assert_eq!(Language::parse(tag).as_ref().map(Language::as_str), expected, "{tag}");
    }

    #[test]
    fn tags_are_read_by_their_language() {
        check("ja", Some("ja"));
        check(" JA-jp ", Some("ja"));
        check("zh_Hant_TW", Some("zh"));
        check("jpn", Some("ja"));
        check("haw", Some("haw"));
        for tag in ["", "j", "日本", "j1", "japanese", "-", "x-klingon"] {
            check(tag, None);
        }
        assert_eq!("ja".parse(), Ok(Language::JAPANESE));
        assert_eq!(format!("{} {:?}", Language::ENGLISH, Language::CHINESE), "en Language(zh)");
    }
}

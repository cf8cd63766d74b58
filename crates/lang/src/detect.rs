//! Detects the language from a text and a hint.

use crate::Language;
use crate::han;
use crate::script::{Count, SINGLE, Script};
use whichlang::Lang;

/// The maximum number of bytes read of a text.
pub const TEXT_BYTES_MAX: usize = 16 * 1024;
/// The maximum number of bytes whose letters are compared: some 170 words, which suffice.
const COMPARED_BYTES_MAX: usize = 1024;
/// The minimum number of letters for a result; East Asian ones count twice.
const LETTERS_MIN: usize = 20;
/// Below this number of letters, the claim of the page outweighs the comparison.
const LETTERS_SURE: usize = 60;

/// The language of `text`; `None` if the text is too short.
///
/// The hint is a language tag (`ja`, from the page or from other pages of its server) or a charset that only one language
/// uses (`Shift_JIS`). It decides where the text does not.
#[must_use]
pub fn detect(text: &str, hint: Option<&str>) -> Option<Language> {
    let text = text.get(..text.floor_char_boundary(TEXT_BYTES_MAX)).unwrap_or(text);
    let hint = hint.and_then(claimed);
    let count = Count::of(text);
    if count.weight() < LETTERS_MIN {
        return None;
    }
    // An East Asian page contains many Latin names; a Latin page contains few East Asian letters.
    if count.east_asian() * 2 * 4 >= count.weight() {
        return Some(east_asian(text, &count, hint));
    }
    let largest = |script: &Script| count.get(*script) * 2 > count.weight();
    if let Some((_, code)) = SINGLE.iter().find(|(script, _)| largest(script)) {
        return Some(Language::two(*code));
    }
    let script = [Script::Cyrillic, Script::Arabic, Script::Devanagari].into_iter().find(largest);
    Some(match script {
        Some(Script::Cyrillic) => cyrillic(text, hint),
        Some(Script::Arabic) => arabic(text, hint),
        Some(_) => among(hint, &[b"mr", b"ne", b"sa"]).unwrap_or(Language::two(*b"hi")),
        None => latin(text, &count, hint),
    })
}

/// Every Japanese sentence contains kana, and every Korean one hangul.
fn east_asian(text: &str, count: &Count, hint: Option<Language>) -> Language {
    if count.get(Script::Hangul) * 4 > count.east_asian() {
        return Language::KOREAN;
    }
    if count.get(Script::Kana) * 20 >= count.east_asian() {
        return Language::JAPANESE;
    }
    match (han::lean(text), hint) {
        (lean, Some(Language::JAPANESE)) if lean >= 0 => Language::JAPANESE,
        (lean, _) if lean * 50 > count.east_asian().try_into().unwrap_or(i64::MAX) => Language::JAPANESE,
        _ => Language::CHINESE,
    }
}

fn cyrillic(text: &str, hint: Option<Language>) -> Language {
    let has = |letters: &[char]| text.contains(letters);
    among(hint, &[b"bg", b"sr", b"mk", b"be", b"kk", b"ky", b"mn", b"tg", b"tt", b"ba", b"uk"])
        .unwrap_or_else(|| {
            let code = if has(&['ї', 'є', 'ґ']) {
                b"uk"
            } else if has(&['ў']) {
                b"be"
            } else if has(&['ђ', 'ћ', 'џ']) {
                b"sr"
            } else if !has(&['ы', 'э', 'ё']) && has(&['ъ']) {
                b"bg"
            } else {
                b"ru"
            };
            Language::two(*code)
        })
}

fn arabic(text: &str, hint: Option<Language>) -> Language {
    among(hint, &[b"fa", b"ur", b"ps", b"ug", b"ku", b"sd"]).unwrap_or_else(|| {
        let has = |letters: &[char]| text.contains(letters);
        let code = if has(&['ٹ', 'ڈ', 'ے']) {
            b"ur"
        } else if has(&['پ', 'چ', 'ژ', 'گ']) {
            b"fa"
        } else {
            b"ar"
        };
        Language::two(*code)
    })
}

/// A claim is believed where the comparison is unreliable: in a short text, and for languages it does not know.
fn latin(text: &str, count: &Count, hint: Option<Language>) -> Language {
    let found = compared(text);
    match hint.filter(|hint| !OTHER_SCRIPTS.iter().any(|code| *hint == Language::two(**code))) {
        Some(hint) if count.get(Script::Latin) < LETTERS_SURE || !KNOWN.contains(&hint) => hint,
        _ => found,
    }
}

/// Languages not written in Latin letters: a claim of one is ignored for a Latin text.
const OTHER_SCRIPTS: [&[u8; 2]; 14] =
    [b"ja", b"zh", b"ko", b"ru", b"uk", b"bg", b"el", b"he", b"ar", b"fa", b"ur", b"hi", b"th", b"ka"];
/// The languages in Latin letters that the comparison knows.
const KNOWN: [Language; 10] = [
    Language::ENGLISH,
    Language::two(*b"de"),
    Language::two(*b"fr"),
    Language::two(*b"it"),
    Language::two(*b"nl"),
    Language::two(*b"pt"),
    Language::two(*b"es"),
    Language::two(*b"sv"),
    Language::two(*b"tr"),
    Language::two(*b"vi"),
];

/// The language of the letters in the middle of the text; navigation is at its ends.
fn compared(text: &str) -> Language {
    let start = text.len().saturating_sub(COMPARED_BYTES_MAX) / 2;
    let from = text.ceil_char_boundary(start);
    let to = text.floor_char_boundary(start + COMPARED_BYTES_MAX);
    Language::two(*match whichlang::detect_language(text.get(from..to).unwrap_or(text)) {
        Lang::Ara => b"ar",
        Lang::Cmn => b"zh",
        Lang::Deu => b"de",
        Lang::Eng => b"en",
        Lang::Fra => b"fr",
        Lang::Hin => b"hi",
        Lang::Ita => b"it",
        Lang::Jpn => b"ja",
        Lang::Kor => b"ko",
        Lang::Nld => b"nl",
        Lang::Por => b"pt",
        Lang::Rus => b"ru",
        Lang::Spa => b"es",
        Lang::Swe => b"sv",
        Lang::Tur => b"tr",
        Lang::Vie => b"vi",
    })
}

fn among(hint: Option<Language>, codes: &[&[u8; 2]]) -> Option<Language> {
    hint.filter(|hint| codes.iter().any(|code| *hint == Language::two(**code)))
}

/// The language that a tag names, or that a charset was designed for.
fn claimed(hint: &str) -> Option<Language> {
    let charset = hint.trim().to_ascii_lowercase();
    match charset.as_str() {
        "shift_jis" | "sjis" | "x-sjis" | "windows-31j" | "euc-jp" | "x-euc-jp" | "iso-2022-jp" => {
            Some(Language::JAPANESE)
        }
        "gb2312" | "gbk" | "gb18030" | "big5" | "big5-hkscs" | "hz-gb-2312" => Some(Language::CHINESE),
        "euc-kr" | "ks_c_5601-1987" | "iso-2022-kr" => Some(Language::KOREAN),
        _ => Language::parse(hint),
    }
}

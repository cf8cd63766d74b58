//! A block without the parts that change by themselves: dates, times of day, ages, counters.
//!
//! "Last updated: 2026-03-31 09:00" and "最終更新: 2026年3月31日(火) 9時" are labels whose words stay; so are "1,234 views" and
//! "3 minutes ago". A number is removed with the word or unit after it; names of months and days are removed, and the
//! signs between them.
//!
//! **Invariant:** the result depends on the text alone; a text without any number or age stays as it is.

use memchr::memmem;

/// What remains of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Steady {
    /// All of it: no part changes by itself.
    Whole,
    /// The part that was written.
    Words,
    /// Nothing.
    Nothing,
}

/// Whether a line says when a page was created or changed, or how often it was viewed. A line without digits does so only
/// if it contains an age.
pub(super) fn is_stamp(text: &str, has_digit: bool) -> bool {
    if !has_digit {
        return has_age(text);
    }
    let mut words = text.as_bytes().split(|byte| !byte.is_ascii_alphabetic());
    words.any(|word| is_of_stamp(&Lower::of(word)))
        || !text.is_ascii()
            && WIDE_STAMPS.iter().any(|known| memmem::find(text.as_bytes(), known.as_bytes()).is_some())
}

/// Longer lines contain more than an age.
const AGE_BYTES_MAX: usize = 40;

/// Whether a word says how long ago something was: a label with such a word changes although it has no digits.
fn has_age(text: &str) -> bool {
    if text.len() > AGE_BYTES_MAX {
        return false;
    }
    let is_age = |word: &[u8]| matches!(Lower::of(word).text(), b"ago" | b"now" | b"today" | b"yesterday");
    let mut words = text.as_bytes().split(|byte| *byte == b' ');
    words.any(is_age) || !text.is_ascii() && text.chars().any(|sign| matches!(sign, '昨' | '今' | '本'))
}

/// A short word in lower case.
struct Lower {
    bytes: [u8; WORD_BYTES_MAX],
    length: usize,
}

/// Longer words are not in the list.
const WORD_BYTES_MAX: usize = 10;

impl Lower {
    /// The word; empty if it is longer.
    fn of(word: &[u8]) -> Self {
        let mut bytes = [0; WORD_BYTES_MAX];
        let length = if word.len() <= WORD_BYTES_MAX { word.len() } else { 0 };
        bytes.iter_mut().zip(word).for_each(|(to, from)| *to = from.to_ascii_lowercase());
        Self { bytes, length }
    }
    fn text(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

/// Words of lines that change by themselves.
fn is_of_stamp(word: &Lower) -> bool {
    matches!(
        word.text(),
        b"accessed"
            | b"ago"
            | b"comments"
            | b"copyright"
            | b"created"
            | b"edited"
            | b"generated"
            | b"hits"
            | b"likes"
            | b"modified"
            | b"online"
            | b"posted"
            | b"published"
            | b"refreshed"
            | b"rendered"
            | b"reviewed"
            | b"today"
            | b"updated"
            | b"viewed"
            | b"views"
            | b"visited"
            | b"visitor"
            | b"visitors"
    )
}
const WIDE_STAMPS: [&str; 13] = [
    "更新",
    "現在",
    "閲覧",
    "アクセス",
    "訪問",
    "投稿",
    "公開日",
    "掲載日",
    "作成日",
    "いいね",
    "再生",
    "来訪",
    "©",
];

/// Writes the part of a text that does not change by itself.
pub(super) fn write(text: &str, has_digit: bool, out: &mut Vec<u8>) -> Steady {
    if !has_digit && !has_age(text) {
        return Steady::Whole;
    }
    out.clear();
    let mut after_number = false;
    for word in text.split([' ', '\u{a0}', '\u{3000}']) {
        after_number = if word.is_ascii() {
            write_ascii(word, after_number, out)
        } else {
            write_wide(word, after_number, out)
        };
    }
    if out.is_empty() { Steady::Nothing } else { Steady::Words }
}

/// Writes a word; returns whether the next one belongs to a number.
fn write_ascii(word: &str, after_number: bool, out: &mut Vec<u8>) -> bool {
    let is_last = word.ends_with([':', '.', ';', ')']);
    let word = word.trim_matches(|sign: char| sign.is_ascii_punctuation());
    if word.is_empty() {
        return after_number;
    }
    if word.bytes().any(|byte| byte.is_ascii_digit()) {
        return !is_last;
    }
    if !after_number && !is_of_time(&Lower::of(word.as_bytes())) {
        push(out, word.as_bytes());
    }
    false
}

/// Names of months, days and units of time, and the words around them.
fn is_of_time(word: &Lower) -> bool {
    matches!(
        word.text(),
        b"january"
            | b"february"
            | b"march"
            | b"april"
            | b"may"
            | b"june"
            | b"july"
            | b"august"
            | b"september"
            | b"october"
            | b"november"
            | b"december"
            | b"jan"
            | b"feb"
            | b"mar"
            | b"apr"
            | b"jun"
            | b"jul"
            | b"aug"
            | b"sep"
            | b"sept"
            | b"oct"
            | b"nov"
            | b"dec"
            | b"monday"
            | b"tuesday"
            | b"wednesday"
            | b"thursday"
            | b"friday"
            | b"saturday"
            | b"sunday"
            | b"mon"
            | b"tue"
            | b"wed"
            | b"thu"
            | b"fri"
            | b"sat"
            | b"sun"
            | b"second"
            | b"seconds"
            | b"sec"
            | b"minute"
            | b"minutes"
            | b"min"
            | b"mins"
            | b"hour"
            | b"hours"
            | b"hr"
            | b"hrs"
            | b"day"
            | b"days"
            | b"week"
            | b"weeks"
            | b"month"
            | b"months"
            | b"year"
            | b"years"
            | b"am"
            | b"pm"
            | b"utc"
            | b"gmt"
            | b"jst"
            | b"est"
            | b"pst"
            | b"ago"
            | b"now"
            | b"today"
            | b"yesterday"
            | b"moment"
            | b"moments"
            | b"just"
            | b"about"
            | b"almost"
            | b"over"
            | b"less"
            | b"than"
            | b"few"
            | b"a"
            | b"an"
            | b"at"
            | b"of"
            | b"on"
    )
}

/// Writes a word of another script, in which numbers and their units are mixed with the letters.
fn write_wide(word: &str, after_number: bool, out: &mut Vec<u8>) -> bool {
    let (mut rest, mut after_number, mut is_written) = (word, after_number, false);
    while let Some(sign) = rest.chars().next() {
        if let Some(behind) = PHRASES.iter().find_map(|phrase| rest.strip_prefix(phrase)) {
            rest = behind;
            continue;
        }
        let (this, behind) = rest.split_at(sign.len_utf8());
        rest = behind;
        match sign {
            '0'..='9' | '０'..='９' => after_number = true,
            _ if sign.is_ascii_punctuation() || is_sign(sign) => {}
            _ if after_number && UNITS.contains(sign) => {}
            _ if is_weekday(sign) && is_alone(word, this, rest) => {}
            _ => {
                after_number = false;
                if !is_written {
                    blank(out);
                }
                is_written = true;
                out.extend_from_slice(this.as_bytes());
            }
        }
    }
    after_number
}

/// Words for the time of day and for nearby days.
const PHRASES: [&str; 8] = ["午前", "午後", "昨日", "一昨日", "今日", "本日", "たった今", "今朝"];
/// Words that follow a number of time units, people or visits.
const UNITS: &str = "年月日時分秒週間前後頃か月ヶカヵケ回人件名位票個";

fn is_weekday(sign: char) -> bool {
    "月火水木金土日祝".contains(sign)
}
/// Signs of full-width scripts.
fn is_sign(sign: char) -> bool {
    matches!(sign, '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}' | '\u{2000}'..='\u{206f}' | '·' | '・')
}

/// Whether a letter is alone in brackets, as that of a weekday is.
fn is_alone(word: &str, this: &str, behind: &str) -> bool {
    let before = word.len() - behind.len() - this.len();
    let opens = word.get(..before).is_some_and(|before| before.ends_with(['(', '（', '[', '［']));
    let closes = behind.starts_with([')', '）', ']', '］', '・']);
    (opens && closes) || behind.starts_with('曜')
}

fn push(out: &mut Vec<u8>, word: &[u8]) {
    blank(out);
    out.extend_from_slice(word);
}
fn blank(out: &mut Vec<u8>) {
    if !out.is_empty() {
        out.push(b' ');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut out = Vec::new();
        let has_digit = text.chars().any(|sign| sign.is_ascii_digit() || ('０'..='９').contains(&sign));
        let kept = match write(text, has_digit, &mut out) {
            Steady::Whole => text.to_owned(),
            Steady::Words => String::from_utf8(out).unwrap(),
            Steady::Nothing => String::new(),
        };
        assert_eq!(kept, expected, "{text}");
    }

    #[test]
    fn dates_and_times_go_and_their_labels_stay() {
        check("Last updated: 2026-03-31 09:00:00", "Last updated");
        check("Posted on Tuesday, 31 March 2026 at 9:00 am", "Posted");
        check("Tue, Mar 31, 2026", "");
        check("最終更新: 2026年3月31日(火) 午前9時05分", "最終更新");
        check("２０２６年３月３１日火曜日", "曜日");
        check("更新日：2026/03/31", "更新日");
        check("© 2019–2026 The Library", "© Library");
    }

    #[test]
    fn ages_and_counters_go() {
        for age in
            ["3 minutes ago", "an hour ago", "2 hours ago", "just now", "Yesterday", "about 5 days ago"]
        {
            check(age, "");
        }
        for age in ["3分前", "2時間前", "１週間前", "昨日", "たった今", "5か月前"] {
            check(age, "");
        }
        check("1,234 views", "");
        check("Views: 1.2K", "Views");
        check("You are visitor number 1,234,567", "You are visitor number");
        check("閲覧数：12,345", "閲覧数");
        check("12,345人目の訪問者", "目の訪問者");
    }

    #[test]
    fn words_stay() {
        check("About the library", "About the library");
        check("日本の図書館", "日本の図書館");
        check("第3章 図書館の歴史", "第章 図書館の歴史");
        check("Chapter 3: The old bridge", "Chapter The old bridge");
    }
}

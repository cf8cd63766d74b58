//! Dates: of Japanese eras, with 年月日, of ISO 8601 and with slashes.

use super::QuantityValue;
use super::numeral::{ascii, number};

/// The year before the first of each era, and how many years it had.
const ERAS: [(&str, i32, i32); 15] = [
    ("令和", 2018, 99),
    ("平成", 1988, 31),
    ("昭和", 1925, 64),
    ("大正", 1911, 15),
    ("明治", 1867, 45),
    ("㋿", 2018, 99),
    ("㍻", 1988, 31),
    ("㍼", 1925, 64),
    ("㍽", 1911, 15),
    ("㍾", 1867, 45),
    ("R", 2018, 99),
    ("H", 1988, 31),
    ("S", 1925, 64),
    ("Ｒ", 2018, 99),
    ("Ｈ", 1988, 31),
];

/// The date at the start of a text, with its length in bytes.
pub(super) fn date(text: &str) -> Option<(usize, QuantityValue)> {
    era_date(text).or_else(|| plain_date(text)).or_else(|| numeric_date(text))
}

/// 令和六年五月三日, 平成元年, R6.5.3.
fn era_date(text: &str) -> Option<(usize, QuantityValue)> {
    let (name, before, years) = ERAS.iter().find(|(name, ..)| text.starts_with(name))?;
    let rest = &text[name.len()..];
    let (length, year) =
        if rest.starts_with('元') { ('元'.len_utf8(), 1) } else { small(rest).or_else(|| whole(rest))? };
    if !(1..=*years).contains(&year) {
        return None;
    }
    let year = before + year;
    let after = &rest[length..];
    let start = name.len() + length;
    if let Some(after) = after.strip_prefix('年') {
        let (length, month, day) = month_and_day(after);
        return Some((
            start + '年'.len_utf8() + length,
            QuantityValue::Date { year: Some(year), month, day },
        ));
    }
    let (length, month, day) = separated(after, '.')?;
    Some((start + length, QuantityValue::Date { year: Some(year), month: Some(month), day: Some(day) }))
}

/// 2024年5月3日, 2024年5月, 5月3日; a year alone is a number with a counter unless it has four digits.
fn plain_date(text: &str) -> Option<(usize, QuantityValue)> {
    let (length, first) = whole(text)?;
    let after = &text[length..];
    if let Some(after) = after.strip_prefix('年') {
        let (more, month, day) = month_and_day(after);
        let is_year = (1000..=2999).contains(&first) && !after.starts_with(['間', '前', '後', '目', '生']);
        let is_date = month.is_some() || is_year;
        let value = QuantityValue::Date { year: Some(first), month, day };
        return is_date.then_some((length + '年'.len_utf8() + more, value));
    }
    let (length, month, day) = month_and_day(text);
    day.map(|day| (length, QuantityValue::Date { year: None, month, day: Some(day) }))
}

/// 5月3日 or 5月: the length, month and day.
fn month_and_day(text: &str) -> (usize, Option<u8>, Option<u8>) {
    let none = (0, None, None);
    let Some((length, month)) = whole(text) else { return none };
    let Some(after) = text[length..].strip_prefix('月').filter(|after| !after.starts_with('間')) else {
        return none;
    };
    let Some(month) = within(month, 12) else { return none };
    let start = length + '月'.len_utf8();
    let day = whole(after).filter(|(length, _)| after[*length..].starts_with('日'));
    match day.and_then(|(length, day)| Some((length, within(day, 31)?))) {
        Some((length, day)) if !after[length + '日'.len_utf8()..].starts_with('間') => {
            (start + length + '日'.len_utf8(), Some(month), Some(day))
        }
        _ => (start, Some(month), None),
    }
}

/// 2024-05-03, 2024/5/3, 2024.5.3.
fn numeric_date(text: &str) -> Option<(usize, QuantityValue)> {
    let digits = text.chars().take_while(|c| ascii(*c).is_some()).take(5).count();
    if digits != 4 {
        return None;
    }
    let length: usize = text.chars().take(4).map(char::len_utf8).sum();
    let year = text[..length].chars().filter_map(ascii).collect::<String>().parse().ok()?;
    let after = &text[length..];
    let separator = after.chars().next().filter(|c| matches!(c, '-' | '/' | '.' | '／' | '－' | '．'))?;
    let (more, month, day) = separated(after, separator)?;
    let value = QuantityValue::Date { year: Some(year), month: Some(month), day: Some(day) };
    (1000..=2999).contains(&year).then_some((length + more, value))
}

/// Month and day, each after the separator.
fn separated(text: &str, separator: char) -> Option<(usize, u8, u8)> {
    let (month_length, month) = small(text.strip_prefix(separator)?)?;
    let rest = &text[separator.len_utf8() + month_length..];
    let (day_length, day) = small(rest.strip_prefix(separator)?)?;
    let length = 2 * separator.len_utf8() + month_length + day_length;
    Some((length, within(month, 12)?, within(day, 31)?))
}

/// A number of one or two digits that no digit follows.
fn small(text: &str) -> Option<(usize, i32)> {
    let digits: String = text.chars().take(3).map_while(ascii).collect();
    let length: usize = text.chars().take(digits.len()).map(char::len_utf8).sum();
    (digits.len() <= 2).then_some((length, digits.parse().ok()?))
}

/// A whole number of up to four places.
fn whole(text: &str) -> Option<(usize, i32)> {
    let (length, value) = number(text)?;
    let is_whole = value.fract() == 0.0 && (0.0..=9999.0).contains(&value);
    is_whole.then(|| (length, rounded(value)))
}

#[expect(clippy::cast_possible_truncation, reason = "it is whole and below ten thousand")]
fn rounded(value: f64) -> i32 {
    value as i32
}

fn within(number: i32, last: u8) -> Option<u8> {
    u8::try_from(number).ok().filter(|number| (1..=last).contains(number))
}

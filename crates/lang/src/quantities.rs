//! Numbers and dates in a text, as spans with their values.

mod calendar;
mod numeral;

use std::ops::Range;

/// A number or a date in a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// Byte positions in the text.
    pub span: Range<usize>,
    /// What it says.
    pub value: QuantityValue,
}

/// What a number or date says.
#[derive(Clone, Debug, PartialEq)]
pub enum QuantityValue {
    /// A number, with the counter or unit right after it, such as `人`; empty if there is none.
    Number {
        /// The number; parts below a thousandth of it may be lost.
        number: f64,
        /// The counter.
        counter: String,
    },
    /// A date of the Gregorian calendar; month and day are none where the text names none.
    Date {
        /// The year; none for a day of any year.
        year: Option<i32>,
        /// 1 to 12.
        month: Option<u8>,
        /// 1 to 31.
        day: Option<u8>,
    },
}

/// The numbers and dates of a text, from left to right without overlap.
///
/// ```
/// use lang::QuantityValue::{Date, Number};
///
/// let found: Vec<_> = lang::quantities("令和六年五月三日、三千五百人が来た").into_iter().map(|found| found.value).collect();
/// assert_eq!(found[0], Date { year: Some(2024), month: Some(5), day: Some(3) });
/// assert_eq!(found[1], Number { number: 3500.0, counter: "人".to_owned() });
/// ```
#[must_use]
pub fn quantities(text: &str) -> Vec<Quantity> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut before = None;
    while let Some(next) = text[at..].chars().next() {
        let rest = &text[at..];
        let begins = !before.is_some_and(|c: char| c.is_ascii_alphanumeric());
        let read = if begins { calendar::date(rest).or_else(|| counted(rest)) } else { None };
        let length = read.as_ref().map_or(next.len_utf8(), |(length, _)| *length);
        found.extend(read.map(|(length, value)| Quantity { span: at..at + length, value }));
        before = text[at..at + length].chars().next_back();
        at += length;
    }
    found
}

/// Counters and units, longer ones first.
const COUNTERS: [&str; 66] = [
    "パーセント",
    "キログラム",
    "メートル",
    "キロメートル",
    "ヶ月",
    "か月",
    "カ月",
    "ヵ月",
    "箇月",
    "か国",
    "カ国",
    "ヶ国",
    "週間",
    "年間",
    "日間",
    "時間",
    "分間",
    "秒間",
    "世紀",
    "種類",
    "ページ",
    "ドル",
    "ユーロ",
    "ポンド",
    "グラム",
    "トン",
    "km",
    "kg",
    "cm",
    "mm",
    "GB",
    "MB",
    "kB",
    "人",
    "名",
    "年",
    "月",
    "日",
    "時",
    "分",
    "秒",
    "円",
    "個",
    "本",
    "枚",
    "冊",
    "匹",
    "頭",
    "羽",
    "台",
    "件",
    "回",
    "歳",
    "才",
    "度",
    "階",
    "番",
    "位",
    "倍",
    "割",
    "章",
    "節",
    "条",
    "%",
    "％",
    "m",
];

/// A number with its counter.
fn counted(rest: &str) -> Option<(usize, QuantityValue)> {
    let (length, number) = numeral::number(rest)?;
    let after = &rest[length..];
    let counter = COUNTERS.iter().find(|counter| after.starts_with(**counter)).copied().unwrap_or("");
    let letters = counter.is_ascii() && counter != "%";
    let follower = after[counter.len()..].chars().next().unwrap_or(' ');
    let counter = if letters && follower.is_ascii_alphanumeric() { "" } else { counter };
    if counter.is_empty() && !numeral::stands_alone(&rest[..length]) {
        return None;
    }
    Some((length + counter.len(), QuantityValue::Number { number, counter: counter.to_owned() }))
}

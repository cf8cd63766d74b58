//! CSV as RFC 4180 has it: lines end in CR LF, and a cell that needs it stands in quotes.
//!
//! **Invariant:** no cell is a formula to a spreadsheet (H20): one that begins like a formula has a `'` in front, which is
//! how spreadsheets write a text that is none. Numbers stay numbers. The other two forms are exact.

use super::{JSON, Row};

/// The first line.
pub(super) const HEADER: &[u8] = b"document,url,at,kind,result\r\n";

/// Appends the line of a row.
pub(super) fn line(out: &mut Vec<u8>, row: &Row<'_>) {
    let shown = row.result.shown();
    out.extend_from_slice(format!("{},", row.document).as_bytes());
    text(out, row.url);
    out.extend_from_slice(format!(",{},{},", row.at.to_rfc3339(), shown.kind).as_bytes());
    if shown.kind == JSON && is_number(&shown.text) {
        out.extend_from_slice(shown.text.as_bytes());
    } else {
        text(out, &shown.text);
    }
    out.extend_from_slice(b"\r\n");
}

/// Appends a cell whose text anyone may have written.
fn text(out: &mut Vec<u8>, text: &str) {
    // Spreadsheets in Japanese read the wide signs too.
    const SIGNS: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];
    let mark = if text.starts_with(SIGNS) { "'" } else { "" };
    let is_quoted = text.contains(['"', ',', '\r', '\n']);
    let quote: &[u8] = if is_quoted { b"\"" } else { b"" };
    out.extend_from_slice(quote);
    out.extend_from_slice(mark.as_bytes());
    if is_quoted {
        out.extend_from_slice(text.replace('"', "\"\"").as_bytes());
    } else {
        out.extend_from_slice(text.as_bytes());
    }
    out.extend_from_slice(quote);
}

/// Whether a text is a number as JSON writes it.
fn is_number(text: &str) -> bool {
    let is_numeric = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    text.bytes().all(is_numeric) && serde_json::from_str::<serde_json::Number>(text).is_ok()
}

//! CSV as RFC 4180 has it: lines end in CR LF, and a cell that needs it stands in quotes. An answer that is a JSON string
//! stands there as the text that it is, and its kind is `text`; other JSON stands there as JSON.
//!
//! **Invariant:** no cell is a formula to a spreadsheet that splits at commas, be it at semicolons and tabs too (H20): one that
//! begins like a formula has a `'` in front, which is how spreadsheets write a text that is none, and one that holds
//! anything that could begin another cell stands in quotes. Numbers stay numbers. The other two forms are exact.

use super::{JSON, ResultRow};

/// The first line.
pub(super) const HEADER: &[u8] = b"document,url,at,kind,result\r\n";

/// Appends the line of a row.
pub(super) fn line(out: &mut Vec<u8>, row: &ResultRow<'_>) {
    let shown = row.result.shown().plain();
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
    let mark = if text.starts_with(SIGNS) { "'" } else { "" };
    if text.contains(ENDS) {
        out.extend_from_slice(format!("\"{mark}{}\"", text.replace('"', "\"\"")).as_bytes());
    } else {
        out.extend_from_slice(mark.as_bytes());
        out.extend_from_slice(text.as_bytes());
    }
}

/// What a formula may begin with. Spreadsheets in Japanese read the wide signs too.
const SIGNS: [char; 12] = ['=', '+', '-', '@', '\0', '\t', '\r', '\n', '＝', '＋', '－', '＠'];
/// What may end a cell.
const ENDS: [char; 6] = ['"', ',', ';', '\t', '\r', '\n'];

/// Whether a text is a number as JSON writes it.
fn is_number(text: &str) -> bool {
    let is_numeric = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    text.bytes().all(is_numeric) && serde_json::from_str::<serde_json::Number>(text).is_ok()
}

//! CSV by RFC 4180: lines end in CR LF, and cells are quoted if necessary. A result that is a JSON string is written as
//! its text with the kind `text`; other JSON is written as JSON.
//!
//! **Invariant:** a spreadsheet that splits at commas, and perhaps also at semicolons and tabs, finds no formula (H20):
//! a cell that begins like one gets a `'` in front, by which spreadsheets mark texts, and one that contains a separator
//! is quoted. Numbers stay numbers. The other two formats are exact.

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

/// Appends a cell with foreign text.
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

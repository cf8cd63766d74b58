//! One JSON object a line. The values are UTF-8, so that lines can be searched as they are.
//!
//! **Invariant:** a line contains no control character and none of the three characters that some readers take for a
//! line end (H16), even if an analysis wrote one into its JSON.

use super::{BASE64, JSON, ResultRow};

/// Appends the line of a row.
pub(super) fn line(out: &mut Vec<u8>, row: &ResultRow<'_>) {
    let shown = row.result.shown();
    out.extend_from_slice(format!("{{\"document\":{},\"url\":", row.document).as_bytes());
    text(out, row.url);
    out.extend_from_slice(format!(",\"at\":\"{}\"", row.at.to_rfc3339()).as_bytes());
    out.extend_from_slice(if shown.kind == BASE64 { b",\"base64\":" } else { b",\"result\":" });
    if shown.kind == JSON {
        json(out, &shown.text);
    } else {
        text(out, &shown.text);
    }
    out.extend_from_slice(b"}\n");
}

/// Appends a text as a JSON string.
fn text(out: &mut Vec<u8>, text: &str) {
    json(out, &serde_json::to_string(text).expect("every text can be written as JSON"));
}

/// Appends JSON. A line end can occur in two places: between values, where it is white space, and in strings, where it
/// is escaped.
fn json(out: &mut Vec<u8>, json: &str) {
    let mut rest = json;
    while let Some((before, sign)) = rest.find(ends_a_line).and_then(|at| rest.split_at_checked(at)) {
        out.extend_from_slice(before.as_bytes());
        let mut characters = sign.chars();
        match characters.next() {
            Some(sign) if sign.is_ascii() && sign != DELETE => out.push(b' '),
            sign => out.extend_from_slice(format!("\\u{:04x}", sign.map_or(0, u32::from)).as_bytes()),
        }
        rest = characters.as_str();
    }
    out.extend_from_slice(rest.as_bytes());
}

/// A control character that may stand in a JSON string as it is.
const DELETE: char = '\u{7f}';

fn ends_a_line(sign: char) -> bool {
    sign.is_control() || matches!(sign, '\u{2028}' | '\u{2029}')
}

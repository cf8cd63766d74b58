//! Text from the web, made safe to print (H24): no terminal escape, no forged log line, no hidden reordering.

use std::borrow::Cow;
use std::fmt::Write;

/// The text with every control character, line separator and direction override written as an escape.
///
/// ```
/// assert_eq!(base::printable("red \u{1b}[31m\nnext"), r"red \u{1b}[31m\nnext");
/// assert_eq!(base::printable("日本語 ok"), "日本語 ok");
/// ```
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(must_be_escaped) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if must_be_escaped(c) {
            // Writing to a string cannot fail.
            let _ = write!(safe, "{}", c.escape_default());
        } else {
            safe.push(c);
        }
    }
    Cow::Owned(safe)
}

fn must_be_escaped(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

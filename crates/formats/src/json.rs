//! The encoder of our own JSON: of CDXJ lines and of what describes a package (H16). Results of scans have another
//! ([`crate::results`]), which leaves letters of all languages as they are and takes JSON that others wrote.
//!
//! **Invariant:** what is written is ASCII without control characters, so no reader can find the end of a line in it,
//! whatever its rule for lines.

use std::fmt::Write as _;

/// An object on one line, field by field.
#[derive(Debug, Default)]
pub(crate) struct Object(String);

impl Object {
    /// Adds a field whose value is a text.
    pub(crate) fn text(mut self, name: &str, value: &str) -> Self {
        self.name(name);
        push_text(&mut self.0, value);
        self
    }
    /// Adds a field whose value is a number.
    pub(crate) fn number(mut self, name: &str, value: u64) -> Self {
        self.name(name);
        self.0.push_str(&value.to_string());
        self
    }
    /// Adds a field whose value is a list of objects.
    pub(crate) fn list(mut self, name: &str, values: impl IntoIterator<Item = String>) -> Self {
        self.name(name);
        let values: Vec<String> = values.into_iter().collect();
        self.0.push_str(&format!("[{}]", values.join(", ")));
        self
    }
    /// The object.
    pub(crate) fn finish(mut self) -> String {
        self.0.push_str(if self.0.is_empty() { "{}" } else { "}" });
        self.0
    }

    fn name(&mut self, name: &str) {
        self.0.push_str(if self.0.is_empty() { "{" } else { ", " });
        push_text(&mut self.0, name);
        self.0.push_str(": ");
    }
}

fn push_text(json: &mut String, text: &str) {
    json.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            ' '..='~' => json.push(c),
            _ => {
                let mut units = [0; 2];
                // Writing to a string cannot fail.
                c.encode_utf16(&mut units).iter().for_each(|unit| _ = write!(json, "\\u{unit:04x}"));
            }
        }
    }
    json.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_is_read_back_and_breaks_no_line() {
        for text in
            ["", "plain", "\"\\/\r\n\t\0\u{7f}", "\u{85}\u{2028}\u{2029}", "日本𠮷", "\u{feff}</script>"]
        {
            let line = Object::default().text("a", text).number("n", u64::MAX).finish();
            assert!(line.bytes().all(|b| b.is_ascii_graphic() || b == b' '), "{line}");
            let value: serde_json::Value = serde_json::from_str(&line).unwrap();
            assert_eq!((value["a"].as_str(), value["n"].as_u64()), (Some(text), Some(u64::MAX)));
        }
        assert_eq!(Object::default().finish(), "{}");
        let list = Object::default().list("l", ["{}".to_owned(), "{}".to_owned()]).finish();
        assert_eq!(list, r#"{"l": [{}, {}]}"#);
    }
}

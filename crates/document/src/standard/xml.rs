//! The standard form as XML, as in figure 3 of paper 004. `docs/formats/standard-format.xsd` is its schema.

use super::StandardDocument;
use base::Timestamp;
use std::fmt::Write as _;

/// What stands before the first document.
pub const XML_START: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<StandardFormats>\n";
/// What stands after the last document.
pub const XML_END: &str = "</StandardFormats>\n";

/// The document as one element, without a declaration.
#[must_use]
pub fn to_xml(document: &StandardDocument) -> String {
    let mut xml = Xml(String::new());
    let content = &document.content;
    xml.open(
        "StandardFormat",
        &[
            ("Uri", &document.url),
            ("Id", &document.id.to_string()),
            ("OriginalEncoding", &content.charset),
            ("CrawlTime", &document.validity.from().to_rfc3339()),
            ("CrawlTimeEnd", &document.until().map(Timestamp::to_rfc3339).unwrap_or_default()),
            ("FormatTime", &document.formed.to_rfc3339()),
            ("Language", content.language.as_deref().unwrap_or_default()),
        ],
    );
    header(document, &mut xml);
    xml.open("Text", &[]);
    for (sentence, number) in content.sentences.iter().zip(1_u64..) {
        xml.open(
            "S",
            &[
                ("Id", &number.to_string()),
                ("Offset", &sentence.offset.to_string()),
                ("Length", &sentence.length.to_string()),
                ("is_Japanese_Sentence", if sentence.is_japanese { "1" } else { "0" }),
            ],
        );
        xml.leaf("RawString", &[], content.text_of(sentence));
        xml.close("S");
    }
    xml.close("Text");
    xml.close("StandardFormat");
    xml.0
}

fn header(document: &StandardDocument, xml: &mut Xml) {
    xml.open("Header", &[]);
    if let Some(title) = &document.content.title {
        xml.open("Title", &[("Offset", &title.offset.to_string()), ("Length", &title.length.to_string())]);
        xml.leaf("RawString", &[], &title.text);
        xml.close("Title");
    }
    xml.open("OutLinks", &[]);
    for (link, target) in &document.out_links {
        let nofollow = if link.nofollow { "1" } else { "" };
        xml.open("OutLink", &[("Kind", link.kind.as_str()), ("NoFollow", nofollow)]);
        xml.leaf("RawString", &[], &link.text);
        let id = target.map(|target| target.to_string()).unwrap_or_default();
        ids(xml, &link.url, &id);
        xml.close("OutLink");
    }
    xml.close("OutLinks");
    xml.open("InLinks", &[]);
    for link in &document.in_links {
        let nofollow = if link.nofollow { "1" } else { "" };
        xml.open("InLink", &[("Kind", link.kind.as_str()), ("NoFollow", nofollow)]);
        xml.leaf("RawString", &[], &link.text);
        ids(xml, &link.url, &link.document.to_string());
        xml.close("InLink");
    }
    xml.close("InLinks");
    xml.close("Header");
}

/// The id is empty if the archive has no document of that page.
fn ids(xml: &mut Xml, url: &str, id: &str) {
    xml.open("DocIDs", &[]);
    xml.leaf("DocID", &[("Uri", url)], id);
    xml.close("DocIDs");
}

struct Xml(String);

impl Xml {
    /// Begins an element. Attributes without a value are left out.
    fn open(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.start(name, attributes);
        self.0.push_str(">\n");
    }
    fn start(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.0.push('<');
        self.0.push_str(name);
        for (name, value) in attributes.iter().filter(|(_, value)| !value.is_empty()) {
            // Writing to a string cannot fail.
            let _ = write!(self.0, " {name}=\"");
            self.escape(value);
            self.0.push('"');
        }
    }
    fn leaf(&mut self, name: &str, attributes: &[(&str, &str)], text: &str) {
        self.start(name, attributes);
        self.0.push('>');
        self.escape(text);
        let _ = writeln!(self.0, "</{name}>");
    }
    fn close(&mut self, name: &str) {
        let _ = writeln!(self.0, "</{name}>");
    }
    /// Text and attribute values alike. Characters that XML does not have become U+FFFD.
    fn escape(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '&' => self.0.push_str("&amp;"),
                '"' => self.0.push_str("&quot;"),
                '\t' => self.0.push_str("&#9;"),
                '\n' => self.0.push_str("&#10;"),
                '\r' => self.0.push_str("&#13;"),
                '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => self.0.push('\u{fffd}'),
                c if is_control(c) => _ = write!(self.0, "&#{};", u32::from(c)),
                c => self.0.push(c),
            }
        }
    }
}

/// Characters that could move a cursor, or text on a screen.
fn is_control(c: char) -> bool {
    matches!(c, '\u{7f}'..='\u{9f}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_does_not_have_is_replaced() {
        let mut xml = Xml(String::new());
        xml.leaf("a", &[("b", "\"<&>\n"), ("c", "")], "]]>\u{0}\u{ffff}\t写\u{202e}");
        assert_eq!(xml.0, "<a b=\"&quot;&lt;&amp;&gt;&#10;\">]]&gt;\u{fffd}\u{fffd}&#9;写&#8238;</a>\n");
    }
}

//! The standard form as plain text.

use super::StandardDocument;
use base::printable;
use html::BlockKind;

/// The document as text for people: what it is, then its main text block by block.
#[must_use]
pub fn to_text(document: &StandardDocument) -> String {
    let content = &document.content;
    let title = content.title.as_ref().map_or("", |title| &title.text);
    let until = document.until().map(|until| format!(" until {until}")).unwrap_or_default();
    let language = content.language.as_deref().unwrap_or("unknown");
    let (sentences, links) = (content.sentences.len(), document.out_links.len());
    let mut text = format!(
        "{}\n{}\ndocument  {}\nfrom      {}{until}\nlanguage  {language}, {}\nlinks     {links} out, {} in\n",
        printable(title),
        printable(&document.url),
        document.id,
        document.validity.from(),
        content.charset,
        document.in_links.len(),
    );
    text.push_str(&format!("text      {sentences} sentences\n"));
    for block in &content.blocks {
        let shown = content.text.get(block.range.clone()).unwrap_or_default();
        let mark = match block.kind {
            BlockKind::Heading(level) => format!("{} ", "#".repeat(usize::from(level))),
            BlockKind::ListItem => "- ".to_owned(),
            BlockKind::Quote => "> ".to_owned(),
            _ => String::new(),
        };
        text.push('\n');
        shown.lines().for_each(|line| text.push_str(&format!("{mark}{}\n", printable(line))));
    }
    text
}

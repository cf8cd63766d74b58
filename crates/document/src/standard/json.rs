//! The standard form as JSON.

use super::StandardDocument;
use crate::id::DocumentId;
use crate::links::{InLink, OutLink};
use crate::stored::{Sentence, SourceText};
use base::Timestamp;
use serde_json::{Value, json};

/// The document as one JSON object.
#[must_use]
pub fn to_json(document: &StandardDocument) -> Value {
    let content = &document.content;
    let sentence = |sentence: &Sentence| {
        json!({
            "text": content.text_of(sentence),
            "offset": sentence.offset,
            "length": sentence.length,
            "japanese": sentence.is_japanese,
        })
    };
    json!({
        "id": document.id.to_string(),
        "url": document.url,
        "time": document.validity.from().to_rfc3339(),
        "until": document.until().map(Timestamp::to_rfc3339),
        "formed": document.formed.to_rfc3339(),
        "encoding": content.charset,
        "title": content.title.as_ref().map(|title| &title.text),
        "title_source": content.title.as_ref().map(place),
        "language": content.language,
        "bytes": content.bytes,
        "text": content.text,
        "sentences": content.sentences.iter().map(sentence).collect::<Vec<_>>(),
        "out_links": document.out_links.iter().map(out_link).collect::<Vec<_>>(),
        "in_links": document.in_links.iter().map(in_link).collect::<Vec<_>>(),
    })
}

fn place(text: &SourceText) -> Value {
    json!({ "offset": text.offset, "length": text.length })
}

fn out_link((link, target): &(OutLink, Option<DocumentId>)) -> Value {
    json!({
        "url": link.url,
        "kind": link.kind.as_str(),
        "nofollow": link.nofollow,
        "text": link.text,
        "document": target.map(|target| target.to_string()),
    })
}

fn in_link(link: &InLink) -> Value {
    json!({
        "url": link.url,
        "kind": link.kind.as_str(),
        "nofollow": link.nofollow,
        "text": link.text,
        "document": link.document.to_string(),
    })
}

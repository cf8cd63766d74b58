//! What a page says of itself in a few words: its title, its language.

use super::json;
use super::links::NO_AGENT;
use super::subject::{Subject, domain};
use base::PageUrl;
use html::charset;
use html::kind::BodyKind;

/// Maximum bytes of text used for language detection, the same as in the crawler.
const LANGUAGE_BYTES: usize = 2 * 1024;
/// Where a page is taken to stand whose URL is none of a page: of its text, no more than the encoding depends on it.
const NOWHERE: &str = "http://nowhere.invalid/";

/// Appends the title of a page. Its body is read only as far as that goes.
pub(super) fn title(subject: &Subject<'_>, out: &mut Vec<u8>) {
    if subject.kind() != BodyKind::Page {
        return json::null(out);
    }
    let url = subject.url();
    let title = html::title(url.as_ref().and_then(domain), subject.content_type, subject.body);
    json::text_or_null(out, Some(title.as_str()).filter(|title| !title.is_empty()));
}

/// Appends the language of a page: that of its text, where what the page claims decides in doubt.
pub(super) fn language(subject: &Subject<'_>, out: &mut Vec<u8>) {
    let url = subject.url().or_else(|| PageUrl::parse(NOWHERE).ok());
    let Some(url) = url.filter(|_| subject.kind() == BodyKind::Page) else { return json::null(out) };
    let page = html::read(&url, subject.content_type, subject.body, NO_AGENT);
    let hint = page.lang.as_deref().or_else(|| japanese(page.charset));
    let sample = &page.text.sample;
    let start = sample.get(..sample.floor_char_boundary(LANGUAGE_BYTES)).unwrap_or_default();
    json::text_or_null(out, lang::detect(start, hint).as_ref().map(lang::Language::as_str));
}

/// What an encoding of Japanese says of the language.
fn japanese(charset: charset::DetectedCharset) -> Option<&'static str> {
    matches!(charset.encoding.name(), "Shift_JIS" | "EUC-JP" | "ISO-2022-JP").then_some("ja")
}

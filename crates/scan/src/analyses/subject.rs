//! What is worked out of a document before it is analysed, each only when it is asked for.

use crate::ScanDocument;
use base::PageUrl;
use html::charset;
use html::kind::{BodyKind, sniff};
use std::borrow::Cow;

/// A document with what its head says of it.
pub(super) struct Subject<'a> {
    pub(super) body: &'a [u8],
    pub(super) content_type: Option<&'a str>,
    url: &'a str,
}

impl<'a> Subject<'a> {
    pub(super) fn of(document: &ScanDocument<'a>) -> Self {
        let content_type = base::http::field(document.http_head, "content-type");
        Self { body: document.body, content_type, url: document.url }
    }

    /// What the body is.
    pub(super) fn kind(&self) -> BodyKind {
        sniff(self.content_type, self.body)
    }

    /// The page it is a version of; archives of others hold URLs that are none.
    pub(super) fn url(&self) -> Option<PageUrl> {
        PageUrl::parse(self.url).ok()
    }

    /// The whole text for a reader, if there is any.
    pub(super) fn text(&self) -> Option<Cow<'a, str>> {
        let url = self.url();
        let domain = url.as_ref().and_then(domain);
        match self.kind() {
            BodyKind::Page => Some(html::visible_text(domain, self.content_type, self.body).into()),
            BodyKind::Text => {
                let charset = charset::find_from(domain, self.content_type, self.body);
                Some(shortened(charset::text(charset, self.body)))
            }
            BodyKind::Feed | BodyKind::Sitemap | BodyKind::Other(_) => None,
        }
    }
}

/// The top-level domain of a page, which helps to distinguish similar encodings.
pub(super) fn domain(url: &PageUrl) -> Option<&str> {
    url.host().rsplit('.').next()
}

/// A text that is no longer than that of a page may be.
fn shortened(text: Cow<'_, str>) -> Cow<'_, str> {
    let end = text.floor_char_boundary(html::TEXT_BYTES_MAX);
    match text {
        Cow::Borrowed(text) => text.get(..end).unwrap_or_default().into(),
        Cow::Owned(mut text) => {
            text.truncate(end);
            text.into()
        }
    }
}

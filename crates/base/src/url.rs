//! Page URLs: read once by the WHATWG standard, kept in one form, known by one key (C10, H25).
//!
//! **Invariant:** a [`PageUrl`] is http or https, has a host, no user info (H14), no fragment, no trailing dot on the
//! host, and at most [`URL_BYTES_MAX`] bytes. Scope, robots rules, politeness and connecting all use this type.
//!
//! The URL is requested; the [`UrlKey`] identifies the page. The key leaves out the scheme, session ids and needless
//! escapes, and reverses the host so that the servers of a domain sort together (SURT).

use crate::ServerName;
use crate::limits::URL_BYTES_MAX;
use std::fmt;
use std::str::FromStr;
use url::Url;

mod session;
mod standard;

/// The URL of a page.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageUrl(Url);

/// How a page is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scheme {
    /// Plain HTTP.
    Http,
    /// HTTP over TLS.
    Https,
}

impl Scheme {
    /// The port when none is written.
    #[must_use]
    pub const fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
    /// `http` or `https`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }
}

/// Scheme and server together: what robots rules and connections belong to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    /// How the server is contacted.
    pub scheme: Scheme,
    /// Which server.
    pub server: ServerName,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme.as_str(), self.server)
    }
}

/// Why a text is not a page URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// The standard rejects it.
    #[error("`{text}` is not a URL: {reason}; write it whole, such as `https://www.example.org/page`")]
    Malformed {
        /// The text.
        text: String,
        /// The parser's reason.
        reason: url::ParseError,
    },
    /// It is a URL of another kind.
    #[error("`{0}` is not a web page: only http and https URLs can be visited")]
    Scheme(String),
    /// It is longer than any honest URL.
    #[error("the URL is {0} bytes long; at most {URL_BYTES_MAX} are visited")]
    TooLong(usize),
}

impl UrlError {
    /// The text is shortened and printable, and shows no password (H14, H24).
    pub(crate) fn malformed(text: &str, reason: url::ParseError) -> Self {
        Self::Malformed { text: shortened(text), reason }
    }
}

/// Reads `reference` as the WHATWG URL standard says, against `base` if there is one.
///
/// Everything in the program that reads a URL reads it here.
pub fn read(reference: &str, base: Option<&Url>) -> Result<Url, url::ParseError> {
    standard::read(reference, base)
}

impl PageUrl {
    /// Reads a whole URL.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        Self::from_read(read(text, None), text)
    }
    /// Reads a reference that stands on this page.
    pub fn join(&self, reference: &str) -> Result<Self, UrlError> {
        Self::from_read(read(reference, Some(&self.0)), reference)
    }
    /// Converts a URL that was [`read`] elsewhere, such as the base of a document.
    pub fn from_url(mut url: Url) -> Result<Self, UrlError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(UrlError::Scheme(crate::printable(url.scheme()).into_owned()));
        }
        url.set_fragment(None);
        // Both setters fail only for URLs without a host, which http and https always have.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        drop_trailing_dots(&mut url).map_err(|reason| UrlError::malformed(url.as_str(), reason))?;
        if url.as_str().len() > URL_BYTES_MAX {
            return Err(UrlError::TooLong(url.as_str().len()));
        }
        Ok(Self(url))
    }

    fn from_read(url: Result<Url, url::ParseError>, text: &str) -> Result<Self, UrlError> {
        Self::from_url(url.map_err(|reason| UrlError::malformed(text, reason))?)
    }

    /// The URL as it is requested and stored.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
    /// The URL for those who need its parts.
    #[must_use]
    pub fn as_url(&self) -> &Url {
        &self.0
    }
    /// http or https.
    #[must_use]
    pub fn scheme(&self) -> Scheme {
        if self.0.scheme() == "https" { Scheme::Https } else { Scheme::Http }
    }
    /// The server the page is on.
    #[must_use]
    pub fn server(&self) -> ServerName {
        ServerName::new(self.host(), self.0.port())
    }
    /// Scheme and server.
    #[must_use]
    pub fn origin(&self) -> Origin {
        Origin { scheme: self.scheme(), server: self.server() }
    }
    /// The host alone, lower case.
    #[must_use]
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }
    /// The path, beginning with a slash.
    #[must_use]
    pub fn path(&self) -> &str {
        self.0.path()
    }
    /// Path and query: the target of a request.
    #[must_use]
    pub fn target(&self) -> &str {
        &self.0[url::Position::BeforePath..]
    }
    /// The page with another scheme, on the default port of that scheme if it was on the default port of this one.
    #[must_use]
    pub fn with_scheme(&self, scheme: Scheme) -> Self {
        let mut url = self.0.clone();
        // Between http and https this always succeeds.
        let _ = url.set_scheme(scheme.as_str());
        Self(url)
    }
    /// The key that identifies the page.
    #[must_use]
    pub fn key(&self) -> UrlKey {
        UrlKey::of(self)
    }
}

impl fmt::Display for PageUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for PageUrl {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Self, UrlError> {
        Self::parse(text)
    }
}

/// A host that is empty or invalid without its dots is rejected.
fn drop_trailing_dots(url: &mut Url) -> Result<(), url::ParseError> {
    let bare = url.host_str().and_then(|host| host.strip_suffix('.')).map(|host| host.trim_end_matches('.'));
    match bare.map(ToOwned::to_owned) {
        None => Ok(()),
        Some(bare) if bare.is_empty() => Err(url::ParseError::EmptyHost),
        Some(bare) => url.set_host(Some(&bare)),
    }
}

fn shortened(text: &str) -> String {
    let safe = without_user_info(text);
    let short: String = safe.chars().take(200).collect();
    let dots = if short.len() < safe.len() { "…" } else { "" };
    format!("{}{dots}", crate::printable(&short))
}

/// Hides what stands before an `@` in the position of the host: a malformed URL may still carry a password (H14).
fn without_user_info(text: &str) -> String {
    // Parsers ignore tabs and line breaks, so a scheme may contain them.
    let text = text.replace(['\t', '\n', '\r'], "");
    let is_scheme =
        |scheme: &str| scheme.trim().bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    let after_scheme =
        text.split_once(':').filter(|(scheme, _)| is_scheme(scheme)).map_or(&*text, |(_, rest)| rest);
    let from_host = after_scheme.trim_start_matches(['/', '\\']);
    let authority = from_host.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    match authority.rfind('@') {
        Some(at) => format!("{}…{}", &text[..text.len() - from_host.len()], &from_host[at..]),
        None => text,
    }
}

/// Identifies a page: `jp,co,example,www)/path?query`.
///
/// **Invariant:** two URLs have one key exactly when they name one page by C10 and D6. In byte order the keys of one
/// server are adjacent; those of a domain are the ranges after its `)`, `,` and `:`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UrlKey(Box<str>);

impl UrlKey {
    fn of(page: &PageUrl) -> Self {
        let mut key = String::with_capacity(page.as_str().len());
        push_host(&mut key, &page.server());
        key.push(')');
        push_plain(&mut key, &session::without_path_ids(page.path()));
        if let Some(query) = page.0.query().map(session::without_query_ids).filter(|q| !q.is_empty()) {
            key.push('?');
            push_plain(&mut key, &query);
        }
        Self(key.into())
    }
    /// The key from its stored text.
    #[must_use]
    pub fn from_stored(key: &str) -> Self {
        Self(key.into())
    }
    /// The key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for UrlKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

fn push_host(key: &mut String, server: &ServerName) {
    if server.address().is_some() {
        key.push_str(server.host());
    } else {
        for (place, label) in server.host().rsplit('.').enumerate() {
            if place > 0 {
                key.push(',');
            }
            key.push_str(label);
        }
    }
    if let Some(port) = server.port() {
        key.push(':');
        key.push_str(&port.to_string());
    }
}

/// Writes `text` with needless escapes undone and the rest in upper case: `%7e` is `~`, `%2f` stays `%2F`.
fn push_plain(key: &mut String, text: &str) {
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        key.push_str(&rest[..at]);
        rest = &rest[at..];
        match escaped_byte(rest) {
            Some(byte) if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) => {
                key.push(char::from(byte));
            }
            Some(byte) => key.push_str(&format!("%{byte:02X}")),
            None => key.push('%'),
        }
        rest = &rest[if escaped_byte(rest).is_some() { 3 } else { 1 }..];
    }
    key.push_str(rest);
}

fn escaped_byte(text: &str) -> Option<u8> {
    let digits = text.get(1..3).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
    u8::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, url: &str, key: &str) {
        let page = PageUrl::parse(text).unwrap();
        assert_eq!((page.as_str(), page.key().as_str()), (url, key));
        assert_eq!(PageUrl::parse(page.as_str()).as_ref(), Ok(&page), "the form is stable");
    }

    #[test]
    fn one_page_has_one_key() {
        check("http://example.com", "http://example.com/", "com,example)/");
        check("https://example.com:443/", "https://example.com/", "com,example)/");
        check("HTTP://Example.COM.:80/%7Ea/./b/../c", "http://example.com/%7Ea/c", "com,example)/~a/c");
        check("http://example.com:8080/", "http://example.com:8080/", "com,example:8080)/");
        check("http://example.com/a?", "http://example.com/a?", "com,example)/a");
        check(
            "http://example.com/a%2fb%e3%81%82?q=%7e%zz",
            "http://example.com/a%2fb%e3%81%82?q=%7e%zz",
            "com,example)/a%2Fb%E3%81%82?q=~%zz",
        );
        check("http://u:p@example.com/#x", "http://example.com/", "com,example)/");
        check("http://127.0.0.1:81/", "http://127.0.0.1:81/", "127.0.0.1:81)/");
        check("http://[::1]/", "http://[::1]/", "[::1])/");
        check("http://日本語.jp/あ", "http://xn--wgv71a119e.jp/%E3%81%82", "jp,xn--wgv71a119e)/%E3%81%82");
    }

    #[test]
    fn session_ids_leave_the_key_and_not_the_request() {
        let id = "0123456789ABCDEF0123456789abcdef";
        for (text, key) in [
            (format!("http://a.jp/x;jsessionid={id}?q=1"), "jp,a)/x?q=1"),
            (format!("http://a.jp/x?PHPSESSID={id}&q=1"), "jp,a)/x?q=1"),
            (format!("http://a.jp/x?sid={id}"), "jp,a)/x"),
            ("http://a.jp/x?sid=7".to_owned(), "jp,a)/x?sid=7"),
            ("http://a.jp/(S(lit3py55t21z5v55vlm25s55))/x".to_owned(), "jp,a)/x"),
            ("http://a.jp/(S(lit3py55t21z5v55vlm25s55))".to_owned(), "jp,a)/"),
            ("http://a.jp/x?ASPSESSIONIDQQ=ABCDEFGHIJKLMNOPQRSTUVWX".to_owned(), "jp,a)/x"),
        ] {
            let page = PageUrl::parse(&text).unwrap();
            assert_eq!((page.key().as_str(), page.as_str()), (key, text.as_str()));
        }
    }

    #[test]
    fn only_web_urls_within_the_length_limit_are_pages() {
        assert!(matches!(PageUrl::parse("mailto:a@b"), Err(UrlError::Scheme(_))));
        assert!(matches!(PageUrl::parse("javascript:alert(1)"), Err(UrlError::Scheme(_))));
        assert!(matches!(PageUrl::parse("/relative"), Err(UrlError::Malformed { .. })));
        let long = format!("http://a.jp/{}", "x".repeat(URL_BYTES_MAX));
        assert!(matches!(PageUrl::parse(&long), Err(UrlError::TooLong(2_095))));
    }

    #[test]
    fn trailing_dots_are_removed_from_a_host() {
        check("http://example.com../", "http://example.com/", "com,example)/");
        check("http://127.1./", "http://127.0.0.1/", "127.0.0.1)/");
        for text in ["http://./", "http://../", "http://。/", "http://09../"] {
            assert!(matches!(PageUrl::parse(text), Err(UrlError::Malformed { .. })), "{text}");
        }
    }

    #[test]
    fn errors_show_no_password() {
        let long = format!("http://user:{}@exa mple/", "secret".repeat(100));
        for text in [
            "http://user:secret@exa mple/",
            "http:user:secret@exa mple/",
            "h\nttp:\\\\user:secret@exa mple/",
            "user:secret@exa mple",
            &long,
        ] {
            let message = PageUrl::parse(text).unwrap_err().to_string();
            assert!(!message.contains("secret"), "{message}");
            assert!(message.contains("exa mple") || message.contains("only http"), "{message}");
        }
    }

    #[test]
    fn references_are_read_against_their_page() {
        let page = PageUrl::parse("https://a.jp/x/y?z").unwrap();
        for (reference, url) in [
            ("../b", "https://a.jp/b"),
            ("//c.jp", "https://c.jp/"),
            ("?q", "https://a.jp/x/y?q"),
            ("#f", page.as_str()),
        ] {
            assert_eq!(page.join(reference).unwrap().as_str(), url);
        }
        assert_eq!(page.target(), "/x/y?z");
        assert_eq!(page.with_scheme(Scheme::Http).as_str(), "http://a.jp/x/y?z");
    }
}

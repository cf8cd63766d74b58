//! Which pages are requested: all, a site, or those below a URL prefix (A4, D6).
//!
//! A scope is a condition on keys: both schemes, every spelling of an escape and every session id of a page are in the
//! same scopes. A scope gives the ranges of keys to walk, and judges keys where a range is wider than the scope.

use base::url::UrlError;
use base::{PageUrl, ServerName};

/// Which pages are requested.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// All pages.
    #[default]
    Whole,
    /// A site.
    Site(Site),
    /// Pages below a URL prefix.
    Prefix(Prefix),
}

/// A site: a registrable domain with all its servers, or one server as given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    server: ServerName,
    is_domain: bool,
    /// The key's part for the host, and port if any: `jp,co,example`.
    host_key: String,
}

/// The pages whose URLs begin with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// What their keys begin with.
    key: String,
    tail: Tail,
}

/// How a key that begins with the prefix's key must continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tail {
    /// In any way.
    Any,
    /// With an escape, or what it stands for, whose first hexadecimal digit is this one if it is known.
    Escape(Option<u8>),
    /// Not at all, or with one of these: the prefix has a session id here, and keys have none.
    Not(&'static [u8]),
}

/// Keys from `from` until just before `to`, in byte order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRange {
    /// The first key that may be in the range.
    pub from: String,
    /// The first key after the range; `None` if it has no end.
    pub to: Option<String>,
}

/// Why a text is not a scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScopeError {
    /// No server or domain.
    #[error(
        "`{text}` is not a site; write a domain (`example.org`) or a server (`www.example.org:8080`), and use `--prefix` for a URL"
    )]
    Site {
        /// The text.
        text: String,
        /// Why it is not a server.
        source: UrlError,
    },
    /// No URL of a page.
    #[error("it is not the URL of a page; write it whole, such as `https://www.example.org/page`")]
    Url(#[source] UrlError),
    /// No URL to begin with.
    #[error(
        "no URL begins with the prefix; write it with its whole server name, such as `https://www.example.org/dir/`"
    )]
    Prefix(#[from] UrlError),
    /// Fragments and user names are not part of a page's name.
    #[error(
        "leave out everything from `{0}`: it is not part of a page's name, so nothing can be chosen by it"
    )]
    Needless(char),
}

impl Scope {
    /// Reads a site: a registrable domain (`example.co.jp`) is all its servers, anything else one server as given
    /// (`www.example.co.jp`, `example.co.jp:8080`, `127.0.0.1`).
    pub fn site(text: &str) -> Result<Self, ScopeError> {
        let text = text.trim();
        let server = ServerName::parse(text)
            .map_err(|source| ScopeError::Site { text: base::printable(text).into_owned(), source })?;
        let is_domain = server.registrable_domain() == Some(server.as_str());
        let host_key = host_key(&server);
        Ok(Self::Site(Site { server, is_domain, host_key }))
    }

    /// Reads one server as given, even if it has the name of a domain.
    pub fn server(text: &str) -> Result<Self, ScopeError> {
        match Self::site(text)? {
            Self::Site(site) => Ok(Self::Site(Site { is_domain: false, ..site })),
            other => Ok(other),
        }
    }

    /// Reads a URL prefix, with or without its scheme, which is ignored.
    ///
    /// The server's name is always whole: `https://example.org` means all of that server, and neither `example.org.uk`
    /// nor `example.org:8080`. After it the prefix may end anywhere, also within a word, a query or an escape: `/%7`
    /// begins `/%7Euser`, and so `/~user`, which is the same page.
    pub fn prefix(text: &str) -> Result<Self, ScopeError> {
        let url = whole_url(text.trim())?;
        // Appends a letter, so that the parser keeps a last `.`, `?` or `%7`; two different ones show whether they
        // become part of a session id.
        let key_with = |letter: char| PageUrl::parse(&format!("{url}{letter}")).map(|page| page.key());
        let (one, other) = (key_with('x')?, key_with('z')?);
        if one == other {
            let key = one.as_str().to_owned();
            let tail = Tail::after_session_id(&url, &key);
            return Ok(Self::Prefix(Prefix { key, tail }));
        }
        let key = one.as_str().strip_suffix('x').unwrap_or(one.as_str());
        Ok(Self::Prefix(Prefix::ending(key)))
    }

    /// The ranges of keys that hold every key of the scope, in order and disjoint.
    #[must_use]
    pub fn key_ranges(&self) -> Vec<KeyRange> {
        match self {
            Self::Whole => vec![KeyRange { from: String::new(), to: None }],
            // The domain itself, its subdomains, its other ports; a path begins with a slash.
            Self::Site(Site { is_domain: true, host_key, .. }) => {
                [")/", ",", ":"].map(|next| KeyRange::below(format!("{host_key}{next}"))).into()
            }
            Self::Site(Site { host_key, .. }) => vec![KeyRange::below(format!("{host_key})/"))],
            Self::Prefix(prefix) => vec![KeyRange::below(prefix.key.clone())],
        }
    }

    /// Whether the page with this key is in the scope.
    #[must_use]
    pub fn holds(&self, key: &str) -> bool {
        match self {
            Self::Whole => true,
            Self::Site(site) => site.holds(key),
            Self::Prefix(prefix) => {
                key.strip_prefix(&*prefix.key).is_some_and(|rest| prefix.tail.allows(rest))
            }
        }
    }
}

impl Site {
    fn holds(&self, key: &str) -> bool {
        let Some((host, _)) = key.split_once(")/") else { return false };
        if !self.is_domain || host == self.host_key {
            return host == self.host_key;
        }
        let Some(rest) = host.strip_prefix(&*self.host_key) else { return false };
        // Names that others registered below the domain are sites of their own.
        rest.starts_with(':')
            || (rest.starts_with(',') && {
                let host = rest.split(':').next().unwrap_or_default();
                let labels: Vec<&str> = host.split(',').skip(1).collect();
                let below: String = labels.iter().rev().flat_map(|label| [label, "."]).collect();
                let name = format!("{below}{}", self.server);
                base::server::registrable_domain(&name) == Some(self.server.as_str())
            })
    }
}

impl Prefix {
    /// A prefix whose last escape may be incomplete.
    fn ending(key: &str) -> Self {
        let cut = key.rfind('%').filter(|at| {
            let digits = &key.as_bytes()[at + 1..];
            digits.len() < 2 && digits.iter().all(u8::is_ascii_hexdigit)
        });
        match cut {
            Some(at) => {
                let digit = key.as_bytes().get(at + 1).map(u8::to_ascii_uppercase);
                Self { key: key[..at].to_owned(), tail: Tail::Escape(digit) }
            }
            None => Self { key: key.to_owned(), tail: Tail::Any },
        }
    }
}

impl Tail {
    /// What may follow in the key if the URL ends with a session id.
    fn after_session_id(url: &str, key: &str) -> Self {
        match (url.contains('?'), key.contains('?')) {
            _ if key.ends_with('/') && !key.contains('?') && !url.contains('?') => Self::Any,
            (true, true) => Self::Not(b"&"),
            (true, false) => Self::Not(b"?"),
            (false, _) => Self::Not(b"?/;"),
        }
    }

    fn allows(self, rest: &str) -> bool {
        match (self, rest.as_bytes()) {
            (Self::Any, _) | (Self::Not(_), []) => true,
            (Self::Not(next), [first, ..]) => next.contains(first),
            (Self::Escape(_), []) => false,
            (Self::Escape(None), [first, ..]) => *first == b'%' || is_written_plain(*first),
            (Self::Escape(Some(digit)), [b'%', second, ..]) => second.to_ascii_uppercase() == digit,
            (Self::Escape(Some(digit)), [first, ..]) => {
                is_written_plain(*first) && format!("{first:02X}").as_bytes().first() == Some(&digit)
            }
        }
    }
}

impl KeyRange {
    /// The keys that begin with `prefix`, which is not empty and, like all keys, ASCII.
    fn below(prefix: String) -> Self {
        let mut to = prefix.clone();
        let last = to.pop().filter(char::is_ascii).expect("keys are ASCII, and begin with a host");
        to.push(char::from(last as u8 + 1));
        Self { from: prefix, to: Some(to) }
    }
    /// Whether the key lies in the range.
    #[must_use]
    pub fn contains(&self, key: &str) -> bool {
        *self.from <= *key && self.to.as_deref().is_none_or(|to| key < to)
    }
}

/// Whether a key never has the byte escaped.
fn is_written_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

/// The host's part of the keys of a server.
fn host_key(server: &ServerName) -> String {
    let root = PageUrl::parse(&format!("http://{server}/")).map(|page| page.key());
    let key = root.expect("a server's root is a page");
    key.as_str().strip_suffix(")/").expect("a key has a host and a path").to_owned()
}

/// The prefix with scheme and path, so that it is a URL.
fn whole_url(text: &str) -> Result<String, ScopeError> {
    if text.contains('#') {
        return Err(ScopeError::Needless('#'));
    }
    let is_scheme = |scheme: &str| scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    let (scheme, rest) = match text.split_once("://") {
        Some((scheme, rest)) if is_scheme(scheme) => (scheme, rest),
        _ => ("http", text.strip_prefix("//").unwrap_or(text)),
    };
    let authority = rest.split(['/', '\\', '?']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err(ScopeError::Needless('@'));
    }
    // Without a server the parser would read the path's first segment as one.
    PageUrl::parse(&format!("{scheme}://{authority}/"))?;
    let slash = if authority.len() == rest.len() { "/" } else { "" };
    Ok(format!("{scheme}://{rest}{slash}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(url: &str) -> String {
        PageUrl::parse(url).unwrap().key().as_str().to_owned()
    }

    #[track_caller]
    fn check(scope: &Scope, inside: &[&str], outside: &[&str]) {
        let ranges = scope.key_ranges();
        assert!(ranges.iter().all(|range| range.to.as_deref().is_none_or(|to| *range.from < *to)));
        assert!(ranges.windows(2).all(|two| two[0].to.as_ref().is_some_and(|to| *to <= two[1].from)));
        for url in inside {
            assert!(scope.holds(&key(url)), "{url} is in {scope:?}");
            assert!(ranges.iter().any(|range| range.contains(&key(url))), "{url} is in {ranges:?}");
        }
        for url in outside {
            assert!(!scope.holds(&key(url)), "{url} is not in {scope:?}");
        }
    }

    #[track_caller]
    fn site(text: &str, inside: &[&str], outside: &[&str]) {
        check(&Scope::site(text).unwrap(), inside, outside);
    }

    #[track_caller]
    fn prefix(text: &str, inside: &[&str], outside: &[&str]) {
        check(&Scope::prefix(text).unwrap(), inside, outside);
    }

    #[test]
    fn a_domain_is_all_its_servers() {
        site(
            "Example.co.jp",
            &[
                "http://example.co.jp/",
                "https://www.example.co.jp/a?b",
                "http://a.b.example.co.jp:8080/",
                "https://example.co.jp:8080/x",
            ],
            &[
                "http://example-2.co.jp/",
                "http://example.co.jp.org/",
                "http://myexample.co.jp/",
                "http://co.jp/",
                "http://example2.co.jp/",
                "http://jp/,co,example)/",
            ],
        );
    }

    #[test]
    fn names_registered_below_a_domain_are_other_sites() {
        site(
            "amazonaws.com",
            &["http://amazonaws.com/", "http://docs.amazonaws.com/"],
            &["http://bucket.s3.amazonaws.com/"],
        );
        site(
            "bucket.s3.amazonaws.com",
            &["http://a.bucket.s3.amazonaws.com/"],
            &["http://s3.amazonaws.com/"],
        );
    }

    #[test]
    fn anything_else_is_one_server() {
        site(
            "www.example.org",
            &["http://www.example.org/", "https://www.example.org/a"],
            &["http://example.org/", "http://a.www.example.org/", "http://www.example.org:81/"],
        );
        site(
            "example.org:8080",
            &["http://example.org:8080/"],
            &["http://example.org/", "http://a.example.org/"],
        );
        site("127.0.0.1", &["http://127.0.0.1/a"], &["http://127.0.0.1:81/", "http://127.0.0.11/"]);
        site("[::1]:81", &["http://[::1]:81/"], &["http://[::1]/"]);
        site("co.jp", &["http://co.jp/"], &["http://example.co.jp/"]);
        site("localhost", &["http://localhost/"], &["http://localhost:81/"]);
    }

    #[test]
    fn a_prefix_is_a_directory_or_any_other_beginning() {
        let inside = ["http://example.org/dir/", "https://example.org/dir/a/b?c"];
        let outside = ["http://example.org/dir", "http://example.org:81/dir/", "http://www.example.org/dir/"];
        for text in [
            "https://example.org/dir/",
            "example.org/dir/",
            "//example.org/dir/",
            " HTTP://Example.org./dir/",
        ] {
            prefix(text, &inside, &outside);
        }
        prefix("http://example.org/dir", &["http://example.org/directory", "http://example.org/dir?x"], &[]);
        prefix("http://a.jp/x?", &["http://a.jp/x?q"], &["http://a.jp/x", "http://a.jp/xy"]);
        prefix("http://a.jp/x?q=1", &["http://a.jp/x?q=12"], &["http://a.jp/x?q=2"]);
        prefix("a.jp/go?to=http://b.jp/", &["http://a.jp/go?to=http://b.jp/c"], &["http://b.jp/c"]);
        prefix("http://a.jp/.", &["http://a.jp/.well-known/x"], &["http://a.jp/", "http://a.jp/x"]);
        prefix("http://a.jp/b/../c", &["http://a.jp/cd"], &["http://a.jp/b/"]);
    }

    #[test]
    fn the_server_of_a_prefix_is_whole() {
        let outside = ["http://example.org.uk/", "http://example.org:8080/", "http://a.example.org/"];
        prefix("https://example.org", &["http://example.org/", "http://example.org/x"], &outside);
        prefix("example.org", &["http://example.org/x"], &outside);
        prefix("localhost:8080", &["http://localhost:8080/x"], &["http://localhost/x"]);
        prefix("example.org?x=", &["http://example.org/?x=1"], &["http://example.org/"]);
        prefix("日本語.jp/あ", &["http://xn--wgv71a119e.jp/%e3%81%82x"], &["http://xn--wgv71a119e.jp/"]);
    }

    #[test]
    fn escapes_are_one_in_all_spellings_and_may_be_cut() {
        let tilde = ["http://a.jp/~u", "http://a.jp/%7Eu", "http://a.jp/%7eu"];
        for text in ["http://a.jp/~", "http://a.jp/%7e", "http://a.jp/%7Eu"] {
            prefix(text, &tilde, &["http://a.jp/u", "http://a.jp/%7Cu"]);
        }
        prefix("http://a.jp/%7", &tilde, &["http://a.jp/", "http://a.jp/a", "http://a.jp/%e3"]);
        prefix(
            "http://a.jp/%7",
            &["http://a.jp/p", "http://a.jp/%7C"],
            &["http://a.jp/o", "http://a.jp/%8C"],
        );
        prefix("http://a.jp/%", &["http://a.jp/~", "http://a.jp/%e3", "http://a.jp/%zz"], &["http://a.jp/"]);
        prefix("http://a.jp/%", &[], &["http://a.jp//", "http://a.jp/;"]);
        prefix("http://a.jp/%e3%8", &["http://a.jp/%E3%81"], &["http://a.jp/%E3%91", "http://a.jp/%E3"]);
        prefix("http://a.jp/%E3%81%e", &["http://a.jp/%e3%81%E4"], &["http://a.jp/%e3%81%D4"]);
        prefix("http://a.jp/%2f", &["http://a.jp/%2Fb"], &["http://a.jp//b"]);
    }

    #[test]
    fn session_ids_are_not_part_of_a_prefix() {
        let id = "0123456789ABCDEF0123456789abcdef";
        let pages =
            [format!("http://a.jp/x;jsessionid={id}?q"), "http://a.jp/x".into(), "http://a.jp/x/y".into()];
        let inside: Vec<&str> = pages.iter().map(String::as_str).collect();
        prefix(&format!("http://a.jp/x;jsessionid={id}"), &inside, &["http://a.jp/xy"]);
        prefix("http://a.jp/x;jsessionid=0", &inside, &["http://a.jp/xy"]);
        prefix(&format!("http://a.jp/x?sid={id}"), &inside[..2], &["http://a.jp/xy", "http://a.jp/x/y"]);
        prefix(&format!("http://a.jp/?sid={id}"), &["http://a.jp/", "http://a.jp/?q"], &["http://a.jp/x"]);
        prefix(
            &format!("http://a.jp/x?q&sid={id}"),
            &["http://a.jp/x?q&r", inside[0]],
            &["http://a.jp/x?qr"],
        );
        prefix(&format!("http://a.jp/x?sid={id}&q"), &["http://a.jp/x?qr"], &["http://a.jp/x?r"]);
        prefix("http://a.jp/(S(lit3py55t21z5v55vlm25s55))/x", &["http://a.jp/xy"], &["http://a.jp/y"]);
    }

    #[test]
    fn other_texts_are_refused_with_advice() {
        for text in ["", "https://example.org/", "a b", "example.org/dir", "u@example.org"] {
            let message = Scope::site(text).unwrap_err().to_string();
            assert!(message.contains("use `--prefix` for a URL"), "{message}");
        }
        for text in [
            "",
            "/dir/",
            "?q",
            "http:///dir/",
            "\t/dir/",
            "ftp://example.org/",
            "http://",
            "http://exa mple/",
            "://x",
        ] {
            assert!(matches!(Scope::prefix(text), Err(ScopeError::Prefix(_))), "{text}");
        }
        assert_eq!(Scope::prefix("http://a.jp/x#y"), Err(ScopeError::Needless('#')));
        assert_eq!(Scope::prefix("mailto:a@b.jp"), Err(ScopeError::Needless('@')));
        assert!(Scope::prefix("a.jp/@user").is_ok());
    }

    #[test]
    fn the_whole_archive_is_every_key() {
        let ranges = Scope::Whole.key_ranges();
        assert!(ranges[0].contains("!dns:example.org") && ranges[0].contains("[::1])/"));
        assert!(Scope::Whole.holds("") && ranges.len() == 1);
    }
}

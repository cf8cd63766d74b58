//! The WHATWG URL standard, where the parser in use differs from it for pages.

use std::borrow::Cow;
use url::{ParseError, Url};

pub(super) fn read(reference: &str, base: Option<&Url>) -> Result<Url, ParseError> {
    let reference = if base.is_some_and(ignores_slashes) { two_slashes(reference) } else { reference.into() };
    let mut url = Url::options().base_url(base).parse(&reference)?;
    if matches!(url.scheme(), "http" | "https") && url.path().contains('^') {
        // The standard escapes it in paths; the parser leaves it.
        url.set_path(&url.path().replace('^', "%5E"));
    }
    Ok(url)
}

fn ignores_slashes(base: &Url) -> bool {
    matches!(base.scheme(), "http" | "https" | "ws" | "wss" | "ftp")
}

/// Writes `///host` as `//host`: before a host the standard skips any number of slashes of either kind, the parser only
/// two. Tabs and line breaks are ignored, and so are control characters and blanks at the start.
fn two_slashes(reference: &str) -> Cow<'_, str> {
    let text = reference.trim_start_matches(|c| c <= ' ');
    let rest = text.trim_start_matches(['/', '\\', '\t', '\n', '\r']);
    let slashes = text[..text.len() - rest.len()].bytes().filter(|byte| matches!(byte, b'/' | b'\\')).count();
    if slashes > 2 { format!("//{rest}").into() } else { reference.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(reference: &str, expected: Option<&str>) {
        let base = Url::parse("https://a.jp/x/y").unwrap();
        assert_eq!(read(reference, Some(&base)).ok().as_ref().map(Url::as_str), expected);
    }

    #[test]
    fn any_number_of_slashes_stands_before_a_host() {
        check("/b", Some("https://a.jp/b"));
        check("//b/c", Some("https://b/c"));
        check("///b/c", Some("https://b/c"));
        check(" /\t/\n\\//b///c", Some("https://b///c"));
        check("\\\\\\b", Some("https://b/"));
        check("https:////b", Some("https://b/"));
        check("http:////b", Some("http://b/"));
        check("///", None);
        check("///u:p@b:1/?q#///f", Some("https://u:p@b:1/?q#///f"));
    }

    #[test]
    fn a_caret_is_escaped_in_paths_only() {
        check("^/a^b?^#^", Some("https://a.jp/x/%5E/a%5Eb?^#^"));
    }
}

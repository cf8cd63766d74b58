//! Strings that break programs, in every place where a string from the web is printed or read as a URL.

use crate::urls::check_page;
use base::server::registrable_domain_of_text;
use base::{PageUrl, ServerName, printable};

#[test]
fn naughty_strings_are_printed_harmlessly() {
    for text in strings() {
        let shown = printable(&text);
        assert!(!shown.chars().any(is_harmful), "{shown:?}");
    }
}

fn is_harmful(c: char) -> bool {
    let breaks_the_line = matches!(c, '\u{2028}' | '\u{2029}');
    let turns_the_direction = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}')
        || matches!(c, '\u{2066}'..='\u{2069}');
    c.is_control() || breaks_the_line || turns_the_direction
}

#[test]
fn naughty_strings_are_pages_or_refused() {
    let base = PageUrl::parse("https://a.jp/x/y?z").unwrap();
    for text in strings() {
        let urls = [
            text.clone(),
            format!("http://a.jp/{text}"),
            format!("http://a.jp/?{text}"),
            format!("http://{text}/"),
            format!("http://{text}.a.jp/"),
            format!("http://{text}@a.jp/"),
            format!("http://a.jp:{text}/"),
            format!("{text}://a.jp/"),
        ];
        let pages = urls.iter().map(|url| PageUrl::parse(url)).chain([base.join(&text)]);
        pages.filter_map(Result::ok).for_each(|page| check_page(&page));
        let _ = (ServerName::parse(&text), registrable_domain_of_text(&text));
    }
}

fn strings() -> Vec<String> {
    let Some(suite) = crate::suite("blns.json") else { return Vec::new() };
    let strings: Vec<String> = serde_json::from_str(&suite).unwrap();
    assert!(strings.len() > 400, "only {} strings", strings.len());
    strings
}

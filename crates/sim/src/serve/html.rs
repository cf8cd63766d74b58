//! The HTML frame of the truth pages, and the only way in which text enters them.
//!
//! **Invariant:** no script runs in these pages, and all inserted text is escaped.

use crate::WebResponse;
use std::borrow::Cow;

/// No scripts, no external resources; the style is inline.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1d2430;--soft:#5d6878;--line:#d9dee6;--paper:#fbfbf9;--mark:#2f6f5e}\
@media(prefers-color-scheme:dark){:root{--ink:#e6e8ec;--soft:#9aa4b2;--line:#333b46;--paper:#15191f;--mark:#7cc4ae}}\
body{font:16px/1.6 system-ui,'Hiragino Sans','Noto Sans JP',sans-serif;color:var(--ink);background:var(--paper);\
max-width:62rem;margin:0 auto;padding:2rem 1.25rem 4rem}\
h1{font-size:1.6rem;line-height:1.25;margin:0 0 .5rem}h2{font-size:1.1rem;margin:2.2rem 0 .5rem}\
p{max-width:44rem}a{color:var(--mark)}nav{display:flex;flex-wrap:wrap;gap:.3rem 1.1rem;margin:.5rem 0 1.5rem}\
code,pre{font:.875em/1.5 ui-monospace,Menlo,Consolas,monospace}\
pre{padding:.8rem 1rem;border:1px solid var(--line);border-radius:6px;overflow-x:auto}\
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%}\
th,td{text-align:left;vertical-align:top;padding:.3rem .9rem .3rem 0;border-bottom:1px solid var(--line)}\
th{color:var(--soft);font-weight:600}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}\
input{font:inherit;padding:.35rem .5rem;width:min(34rem,100%);box-sizing:border-box}\
button{font:inherit;padding:.35rem .9rem}svg{display:block;width:100%;height:3.4rem}\
svg line{stroke:var(--line)}svg .at{stroke:var(--mark);stroke-width:1.5}.soft{color:var(--soft)}";

/// Text escaped for HTML and for attributes in double quotes.
pub(super) fn escape(text: &str) -> Cow<'_, str> {
    if !text.contains(['&', '<', '>', '"', '\'']) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            _ => safe.push(c),
        }
    }
    Cow::Owned(safe)
}

/// Text escaped for the query of a URL.
pub(super) fn escape_query(text: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~:/".contains(byte);
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if plain(&byte) { out.push(char::from(byte)) } else { out.push_str(&format!("%{byte:02X}")) }
    }
    out
}

/// A page; `body` is HTML.
pub(super) fn page(status: u16, title: &str, body: &str) -> WebResponse {
    let text = format!(
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">\
         <title>{title}</title><style>{STYLE}</style><h1>{title}</h1>\
         <nav aria-label=\"about this web\"><a href=/>servers</a><a href=/truth.html>truth</a><a href=/log>log</a>\
         <a href=/politeness>politeness</a><a href=/hosts>hosts</a><a href=/ca.pem>certificate</a></nav>\
         <main>{body}</main></html>\n",
        title = escape(title),
    );
    guarded(WebResponse::plain(status, "text/html; charset=utf-8", text))
}

/// The response with the fields that restrict a browser to showing it.
pub(super) fn guarded(mut answer: WebResponse) -> WebResponse {
    for (name, value) in [
        ("Content-Security-Policy", POLICY),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
        ("Cache-Control", "no-store"),
    ] {
        answer.fields.push((name, value.to_owned()));
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text() {
        assert_eq!(escape("<script>\"&'"), "&lt;script&gt;&quot;&amp;&#39;");
        assert_eq!(escape_query("http://a.example/?b=c&d#<"), "http://a.example/%3Fb%3Dc%26d%23%3C");
        let answer = page(200, "<b>", "");
        assert!(String::from_utf8(answer.body).unwrap().contains("<h1>&lt;b&gt;</h1>"));
        assert!(answer.fields.iter().any(|(_, value)| value.starts_with("default-src 'none'")));
    }
}

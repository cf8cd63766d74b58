//! Session ids in URLs: they identify a visitor, not a page.

use std::borrow::Cow;

/// Names that never mean anything but a session.
const CERTAIN: [&str; 3] = ["jsessionid", "phpsessid", "cftoken"];
/// Names that mean a session when their value looks like one.
const LIKELY: [&str; 5] = ["sid", "sessionid", "session_id", "sessid", "session"];
const TOKEN_BYTES_MIN: usize = 16;

/// The path without `;jsessionid=…` and without the `/(S(…))` of ASP.NET.
pub(super) fn without_path_ids(path: &str) -> Cow<'_, str> {
    if !path.contains([';', '(']) {
        return Cow::Borrowed(path);
    }
    let mut kept = String::with_capacity(path.len());
    for segment in path.strip_prefix('/').unwrap_or(path).split('/').filter(|segment| !is_cookieless(segment))
    {
        kept.push('/');
        for (place, part) in segment.split(';').enumerate() {
            if place == 0 {
                kept.push_str(part);
            } else if !is_session_id(part) {
                kept.push(';');
                kept.push_str(part);
            }
        }
    }
    if kept.is_empty() {
        kept.push('/');
    }
    Cow::Owned(kept)
}

/// The query without parameters that are session ids.
pub(super) fn without_query_ids(query: &str) -> Cow<'_, str> {
    if !query.split('&').any(is_session_id) {
        return Cow::Borrowed(query);
    }
    let kept: Vec<&str> = query.split('&').filter(|parameter| !is_session_id(parameter)).collect();
    Cow::Owned(kept.join("&"))
}

fn is_session_id(parameter: &str) -> bool {
    let Some((name, value)) = parameter.split_once('=') else { return false };
    let named = |known: &&str| name.eq_ignore_ascii_case(known);
    CERTAIN.iter().any(named)
        || name.get(..12).is_some_and(|start| start.eq_ignore_ascii_case("aspsessionid"))
        || (LIKELY.iter().any(named) && is_token(value))
}

fn is_token(value: &str) -> bool {
    value.len() >= TOKEN_BYTES_MIN
        && value.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        && value.bytes().any(|b| b.is_ascii_digit())
}

fn is_cookieless(segment: &str) -> bool {
    let token = segment.strip_prefix("(S(").and_then(|rest| rest.strip_suffix("))"));
    token.is_some_and(|token| token.len() == 24 && token.bytes().all(|b| b.is_ascii_alphanumeric()))
}

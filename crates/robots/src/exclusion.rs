//! The robots directives in the head of a response.

use base::exclusion::Directives;
use base::http;

/// The directives of the `X-Robots-Tag` fields of a response head for all robots and for `agent` by name.
///
/// ```
/// let head = b"HTTP/1.1 200 OK\r\nX-Robots-Tag: otherbot: noindex\r\nX-Robots-Tag: utsushi: nofollow\r\n\r\n";
/// let asked = robots::exclusion(head, "utsushi");
/// assert!(asked.nofollow && !asked.noindex);
/// ```
#[must_use]
pub fn exclusion(response_head: &[u8], agent: &str) -> Directives {
    let fields = http::fields(response_head, "x-robots-tag");
    fields.map(|value| Directives::of_field(value, agent)).fold(Directives::default(), Directives::and)
}

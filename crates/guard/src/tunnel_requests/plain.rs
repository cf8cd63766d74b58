//! Requests of HTTP/1.1 without a body.

use crate::request::{HEAD_BYTES_MAX, one_field, values};

const FIELDS_MAX: usize = 100;

/// The length of the request at the beginning of `input`, which must be for `host`; nothing while it is not whole.
pub(super) fn request(input: &[u8], host: &str) -> Result<Option<usize>, &'static str> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
    let mut head = httparse::Request::new(&mut fields);
    let bytes = match head.parse(input) {
        Ok(httparse::Status::Complete(bytes)) if bytes <= HEAD_BYTES_MAX => bytes,
        Ok(httparse::Status::Partial) if input.len() <= HEAD_BYTES_MAX => return Ok(None),
        Ok(_) | Err(httparse::Error::TooManyHeaders) => return Err("the request head is too large"),
        Err(_) => return Err("what the client says is no HTTP request"),
    };
    if !matches!(head.method, Some("GET" | "HEAD")) {
        return Err("only GET and HEAD pass through a plain tunnel");
    }
    if !head.path.is_some_and(|path| path.starts_with('/')) {
        return Err("the target of a request in a tunnel is a path");
    }
    if !one_field(head.headers, "host")
        .is_ok_and(|said| said.is_some_and(|said| super::is_same_host(said, host)))
    {
        return Err("the Host of the request is not the server of the tunnel");
    }
    let has_body = values(head.headers, "transfer-encoding").next().is_some()
        || values(head.headers, "content-length").any(|length| length != "0");
    if has_body { Err("a request in a plain tunnel has no body") } else { Ok(Some(bytes)) }
}

//! Heads of megabytes, thousands of fields, interim answers without end (H7).

use super::Place;
use crate::{DeliveryMode, WebResponse};

const FIELD_BYTES: usize = 10 * 1024 * 1024;
const FIELDS: usize = 10_000;
const STATUS: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n";
const INTERIM: &str = "HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n";
const CONTINUE: &str = "HTTP/1.1 100 Continue\r\n\r\n";

/// Heads that exceed each limit, and one just within all of them.
pub(super) fn answer(place: &Place<'_>) -> WebResponse {
    let end = ending(place);
    match place.path() {
        "/" => place.home(&[
            "/field",
            "/fields",
            "/endless-fields",
            "/endless-line",
            "/interim",
            "/hundred-interim",
            "/few-interim",
        ]),
        "/field" => raw(format!("{STATUS}X-Filler: {}\r\n{end}", "x".repeat(FIELD_BYTES))),
        "/fields" => raw(format!("{STATUS}{}{end}", fields())),
        "/endless-fields" => {
            raw(format!("{STATUS}X-Filler: again\r\n")).sent(DeliveryMode::RawEndless(STATUS.len()))
        }
        "/endless-line" => {
            raw("HTTP/1.1 200 very ".to_owned()).sent(DeliveryMode::RawEndless("HTTP/1.1 200 ".len()))
        }
        "/interim" => raw(INTERIM.to_owned()).sent(DeliveryMode::RawEndless(0)),
        "/hundred-interim" => raw(format!("{}{STATUS}{end}", CONTINUE.repeat(100))),
        "/few-interim" => raw(format!("{CONTINUE}{INTERIM}{INTERIM}{STATUS}{end}")),
        _ => place.missing(),
    }
}

fn raw(message: String) -> WebResponse {
    WebResponse::plain(200, "text/html; charset=utf-8", message).sent(DeliveryMode::Raw)
}

fn fields() -> String {
    (0..FIELDS).map(|n| format!("X-Field-{n}: {n}\r\n")).collect()
}

/// The length, the end of the head and the body.
fn ending(place: &Place<'_>) -> String {
    let page = place.page("Below a large head", &place.filler(300));
    let body = String::from_utf8_lossy(&page.body);
    format!("Content-Length: {}\r\n\r\n{body}", page.body.len())
}

//! Bodies that never end, and bodies with a wrong `Content-Length` (H6, H15).

use super::Place;
use crate::{DeliveryMode, WebResponse};

const PROMISED_TOO_MUCH: u64 = 1_000;
const PROMISED_ABSURDLY: u64 = 1_000_000_000_000_000;

/// Bodies without end: until the connection closes, and in chunks.
pub(super) fn endless(place: &Place<'_>) -> WebResponse {
    let more = || place.page("More", &place.filler(4_000));
    match place.path() {
        "/" => place.home(&["/endless.html", "/radio.mp3", "/chunks"]),
        "/endless.html" => more().sent(DeliveryMode::Endless),
        "/radio.mp3" => WebResponse::plain(200, "audio/mpeg", sound(place)).sent(DeliveryMode::Endless),
        "/chunks" => chunks(place),
        _ => place.missing(),
    }
}

/// Bytes that look like the frames of a stream.
fn sound(place: &Place<'_>) -> Vec<u8> {
    let noise = (0..512_u64).flat_map(|n| place.hash(n).to_le_bytes());
    [0xff, 0xfb, 0x90, 0x00].into_iter().chain(noise).collect()
}

fn chunks(place: &Place<'_>) -> WebResponse {
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n";
    let text = place.filler(4_000);
    let message = format!("{head}{:x}\r\n{text}\r\n", text.len());
    WebResponse::plain(200, "text/html; charset=utf-8", message).sent(DeliveryMode::RawEndless(head.len()))
}

/// Lengths that are too long, too short, nothing and absurd.
pub(super) fn wrong_length(place: &Place<'_>) -> WebResponse {
    let page = place.page("Measured", &place.filler(1_000));
    let bytes = page.body.len() as u64;
    match place.path() {
        "/" => place.home(&["/long", "/short", "/zero", "/absurd"]),
        "/long" => page.sent(DeliveryMode::WrongLength(bytes + PROMISED_TOO_MUCH)),
        "/short" => page.sent(DeliveryMode::WrongLength(bytes / 2)),
        "/zero" => page.sent(DeliveryMode::WrongLength(0)),
        "/absurd" => page.sent(DeliveryMode::WrongLength(PROMISED_ABSURDLY)),
        _ => place.missing(),
    }
}

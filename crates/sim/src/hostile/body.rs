//! Bodies that never end, and bodies of another length than was promised (H6, H15).

use super::Place;
use crate::{Answer, Manner};

const PROMISED_TOO_MUCH: u64 = 1_000;
const PROMISED_ABSURDLY: u64 = 1_000_000_000_000_000;

/// Bodies without end: until the connection closes, and in chunks.
pub(super) fn endless(place: &Place<'_>) -> Answer {
    let more = || place.page("More", &place.filler(4_000));
    match place.path() {
        "/" => place.home(&["/endless.html", "/radio.mp3", "/chunks"]),
        "/endless.html" => more().sent(Manner::Endless),
        "/radio.mp3" => Answer::plain(200, "audio/mpeg", sound(place)).sent(Manner::Endless),
        "/chunks" => chunks(place),
        _ => place.missing(),
    }
}

/// Bytes that look like the frames of a stream.
fn sound(place: &Place<'_>) -> Vec<u8> {
    let noise = (0..512_u64).flat_map(|n| place.hash(n).to_le_bytes());
    [0xff, 0xfb, 0x90, 0x00].into_iter().chain(noise).collect()
}

fn chunks(place: &Place<'_>) -> Answer {
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n";
    let text = place.filler(4_000);
    let message = format!("{head}{:x}\r\n{text}\r\n", text.len());
    Answer::plain(200, "text/html; charset=utf-8", message).sent(Manner::RawEndless(head.len()))
}

/// Lengths that are too long, too short, nothing and absurd.
pub(super) fn wrong_length(place: &Place<'_>) -> Answer {
    let page = place.page("Measured", &place.filler(1_000));
    let bytes = page.body.len() as u64;
    match place.path() {
        "/" => place.home(&["/long", "/short", "/zero", "/absurd"]),
        "/long" => page.sent(Manner::WrongLength(bytes + PROMISED_TOO_MUCH)),
        "/short" => page.sent(Manner::WrongLength(bytes / 2)),
        "/zero" => page.sent(Manner::WrongLength(0)),
        "/absurd" => page.sent(Manner::WrongLength(PROMISED_ABSURDLY)),
        _ => place.missing(),
    }
}

//! Japanese text whose label is wrong, contradicts itself or is missing (H11).

use super::Place;
use crate::WebResponse;
use encoding_rs::{EUC_JP, Encoding, ISO_2022_JP, SHIFT_JIS, UTF_8};

const TEXT: &str = "山のふもとの小さな町では、毎朝六時に鐘が鳴る。パン屋の主人は窓を開け、通りをゆく人に声をかける。\
                    「今日もいい天気ですね」。古い図書館には、江戸時代の地図や手紙がのこされている。カタカナの看板、\
                    ひらがなの詩、漢字の碑文。川にかかる橋のたもとで、子どもたちが魚を数えていた。";

/// The encoding, and the labels in the field and in the page.
const CASES: [(&Encoding, Option<&str>, Option<&str>); 10] = [
    (SHIFT_JIS, Some("UTF-8"), None),
    (EUC_JP, Some("Shift_JIS"), None),
    (ISO_2022_JP, Some("EUC-JP"), None),
    (UTF_8, Some("Shift_JIS"), None),
    (SHIFT_JIS, None, None),
    (EUC_JP, None, Some("UTF-8")),
    (ISO_2022_JP, None, None),
    (EUC_JP, Some("UTF-8"), Some("ISO-2022-JP")),
    (SHIFT_JIS, Some("x-no-such-charset"), None),
    (UTF_8, Some("ISO-8859-1"), Some("UTF-8")),
];

/// One page for each case.
pub(super) fn answer(place: &Place<'_>) -> WebResponse {
    if place.path() == "/" {
        let links: Vec<String> = (0..CASES.len()).map(|n| format!("/text/{n}")).collect();
        return place.home(&links.iter().map(String::as_str).collect::<Vec<_>>());
    }
    let case = place.numbered("/text/").and_then(|n| CASES.get(usize::try_from(n).ok()?));
    case.map_or_else(|| place.missing(), |(encoding, field, meta)| written(encoding, *field, *meta))
}

fn written(encoding: &'static Encoding, field: Option<&str>, meta: Option<&str>) -> WebResponse {
    let label = meta.map_or_else(String::new, |label| format!("<meta charset=\"{label}\">"));
    let page = format!(
        "<!doctype html><html lang=ja><head>{label}<title>町の朝</title></head><body><h1>町の朝</h1><p>{TEXT}</p>\
         <p><a href=\"/\">もどる</a></p></body></html>\n"
    );
    let (bytes, _, _) = encoding.encode(&page);
    let media_type =
        field.map_or_else(|| "text/html".to_owned(), |label| format!("text/html; charset={label}"));
    WebResponse::plain(200, &media_type, bytes.into_owned())
}

//! Page requisites: style sheets and images. They never change.

use crate::document;
use crate::draw::{draw, push_all, push_hex, push_number};
use crate::image;
use crate::response::{WebRequest, WebResponse};
use crate::server::{IMAGES, Server};

/// `/style-N.css`.
pub(crate) fn style(server: &Server<'_>, number: u64, request: &WebRequest<'_>) -> WebResponse {
    let mut sheet = String::with_capacity(800);
    let seed = draw(server.seed, number);
    sheet.push_str("body { max-width: ");
    push_number(&mut sheet, 40 + seed % 20);
    sheet.push_str("rem; margin: auto; font-family: sans-serif; background: #");
    push_hex(&mut sheet, seed & 0x00ff_ffff);
    push_all(&mut sheet, &["; }\n", RULES]);
    for image in 0..2 {
        push_all(&mut sheet, &["header.h"]);
        push_number(&mut sheet, image);
        sheet.push_str(" { background-image: url(\"/images/");
        push_number(&mut sheet, (seed >> 8).wrapping_add(image) % IMAGES);
        sheet.push_str(".png\"); }\n");
    }
    long_lived(document::tagged_file(server, "text/css", sheet.into_bytes(), request))
}

const RULES: &str = "nav ul { display: flex; flex-wrap: wrap; gap: 1rem; list-style: none; padding: 0; }\n\
    article { line-height: 1.7; }\n\
    aside ul { columns: 2; }\n\
    .ad { border: 1px dashed; padding: .5rem; }\n\
    footer { border-top: 1px solid; font-size: small; }\n";

/// `/images/N.png`.
pub(crate) fn image(server: &Server<'_>, number: u64, request: &WebRequest<'_>) -> WebResponse {
    let mut bytes = Vec::with_capacity(4_096);
    image::png(draw(server.seed ^ 0x696d_6167, number), &mut bytes);
    long_lived(document::tagged_file(server, "image/png", bytes, request))
}

fn long_lived(mut answer: WebResponse) -> WebResponse {
    answer.fields.push(("Cache-Control", "public, max-age=31536000, immutable".to_owned()));
    answer
}

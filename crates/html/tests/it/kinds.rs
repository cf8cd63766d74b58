//! What a body is, whatever its field claims.

use html::kind::{BodyKind, sniff};

#[track_caller]
fn check(content_type: &str, bytes: &[u8], expected: &str) {
    let found = sniff(Some(content_type).filter(|name| !name.is_empty()), bytes);
    assert_eq!(found.media_type(), expected, "{content_type} {:?}", String::from_utf8_lossy(bytes));
}

#[test]
fn bytes_come_before_the_claim() {
    const PAGE: &str = "text/html";
    check("text/html", b"hello", PAGE);
    check("", b"<!DOCTYPE HTML><p>", PAGE);
    check("text/plain", b"\xef\xbb\xbf <!-- x --> <html>", PAGE);
    check("application/xhtml+xml", b"<?xml version='1.0'?><html xmlns='x'>", PAGE);
    check("application/octet-stream", b"<TABLE>", PAGE);
    check("text/html", b"", PAGE);
    check("text/html", b"\x1b$B?^=q4[\x1b(B", PAGE);
    check("text/html; charset=utf-16", b"\xff\xfe<\0p\0>\0", PAGE);
    check("text/html", b"<?xml version='1.0'?><rss>", "application/feed+xml");
    check("text/xml", b"<!-- x --><rdf:RDF>", "application/feed+xml");
    check("text/plain", b"<feed>", "application/feed+xml");
    check("application/json", b"{\"version\": \"https://jsonfeed.org/version/1.1\"}", "application/feed+xml");
    check("text/html", b"<urlset>", "application/sitemap+xml");
    check("text/plain", b"<sm:sitemapindex>", "application/sitemap+xml");
    check("text/plain", b"hello", "text/plain");
    check("", b"hello", "text/plain");
    check("text/plain", b"\0\x01\x02", "application/octet-stream");
    check("text/html", b"\0\x01\x02", "application/octet-stream");
    check("text/css; charset=x", b"a { b: c }", "text/css");
    check("application/json", b"{}", "application/json");
    check("text/xml", b"<unknown/>", "text/xml");
    check("image/svg+xml", b"<svg>", "image/svg+xml");
    check("text/html", b"%PDF-1.4", "application/pdf");
    check("text/html", b"\x89PNG\r\n\x1a\n", "image/png");
    check("text/html", b"PK\x03\x04", "application/zip");
    check("nonsense", b"\xff\xd8\xff", "image/jpeg");
    check("text/plain", b"BMW is a brand", "text/plain");
    check("text/html", b"\x1f\x8b\x08", "application/gzip");
}

#[test]
fn a_packed_sitemap_is_known_by_what_is_inside() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, b"<?xml version='1.0'?><urlset>").unwrap();
    assert_eq!(sniff(Some("application/gzip"), &encoder.finish().unwrap()), BodyKind::Sitemap);
}

//! Fuzz targets: one function for every decoder of bytes that come from outside or from disk.
//!
//! ```
//! let target = fuzz::find("robots").unwrap();
//! (target.run)(b"User-agent: *\nDisallow: /private");
//! ```
//!
//! A target takes any bytes and returns. It panics if the decoder does, or if the result breaks a rule that is cheap to check:
//! a limit, a round trip, two decoders that must agree. `fuzzer/` runs one target under libFuzzer, guided by coverage, and
//! `cargo xtask torture fuzz` runs that. What it finds is kept in two directories, which the tests of this crate replay:
//! `corpus/TARGET` holds inputs that reach different code, `regressions/TARGET` inputs that once failed, by name.
//!
//! **Invariant:** every target has seeds, made by the functions of this crate, and a corpus.

mod archives;
mod commands;
mod names;
mod network;
mod pages;
mod scans;
mod stores;

/// One decoder and how it is fuzzed.
#[derive(Clone, Copy, Debug)]
pub struct FuzzTarget {
    /// Its name on the command line and the name of its directories.
    pub name: &'static str,
    /// Decodes some bytes.
    pub run: fn(&[u8]),
    /// Inputs to start from.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// The longest input that is tried.
    pub bytes_max: usize,
}

/// Inputs of most targets need not be longer.
const SHORT: usize = 4 * 1024;
/// Inputs that hold several records, or a whole page.
const LONG: usize = 64 * 1024;

const fn target(
    name: &'static str,
    run: fn(&[u8]),
    seeds: fn() -> Vec<Vec<u8>>,
    bytes_max: usize,
) -> FuzzTarget {
    FuzzTarget { name, run, seeds, bytes_max }
}

/// Every target, by name.
pub const TARGETS: &[FuzzTarget] = &[
    target("arc", archives::arc, archives::arc_seeds, LONG),
    target("archive-derived", stores::derived, stores::derived_seeds, SHORT),
    target("archive-generation", stores::generation, stores::generation_seeds, SHORT),
    target("archive-rows", stores::rows, stores::rows_seeds, SHORT),
    target("archive-run", stores::run, stores::run_seeds, LONG),
    target("archive-sums", stores::sums, stores::sums_seeds, SHORT),
    target("archive-takedown", stores::takedown, stores::takedown_seeds, SHORT),
    target("archive-version", stores::version, stores::version_seeds, SHORT),
    target("cdxj", archives::cdxj, archives::cdxj_seeds, SHORT),
    target("charset", pages::charset, pages::charset_seeds, LONG),
    target("coding", network::coding, network::coding_seeds, LONG),
    target("control-answer", commands::control_answer, commands::control_answer_seeds, SHORT),
    target("control-request", commands::control_request, commands::control_request_seeds, SHORT),
    target("css", pages::css, pages::css_seeds, LONG),
    target("dates", names::dates, names::dates_seeds, SHORT),
    target("dns", network::dns, network::dns_seeds, SHORT),
    target("feed", pages::feed, pages::feed_seeds, LONG),
    target("frontier-page", stores::frontier_page, stores::frontier_seeds, SHORT),
    target("frontier-server", stores::frontier_server, stores::frontier_seeds, SHORT),
    target("guard-request", network::guard_request, network::guard_seeds, SHORT),
    target("guard-tunnel", network::guard_tunnel, network::guard_seeds, LONG),
    target("html", pages::html, pages::html_seeds, LONG),
    target("http-chunks", network::http_chunks, network::http_chunks_seeds, LONG),
    target("http-head", network::http_head, network::http_head_seeds, LONG),
    target("import", archives::import, archives::warc_seeds, LONG),
    target("language", pages::language, pages::language_seeds, LONG),
    target("operator-words", names::operator_words, names::operator_words_seeds, SHORT),
    target("robots", network::robots, network::robots_seeds, LONG),
    target("sat-files", stores::sat_files, stores::sat_files_seeds, SHORT),
    target("sat-log", stores::sat_log, stores::sat_log_seeds, SHORT),
    target("scan-answers", scans::answers, scans::answers_seeds, SHORT),
    target("scan-documents", scans::documents, scans::documents_seeds, SHORT),
    target("scan-journal", scans::journal, scans::journal_seeds, SHORT),
    target("scan-messages", scans::messages, scans::messages_seeds, SHORT),
    target("settings", commands::settings, commands::settings_seeds, LONG),
    target("sitemap", pages::sitemap, pages::sitemap_seeds, LONG),
    target("surt", names::surt, names::url_seeds, SHORT),
    target("url", names::url, names::url_seeds, SHORT),
    target("wacz", archives::wacz, archives::wacz_seeds, LONG),
    target("warc", archives::warc, archives::warc_seeds, LONG),
    target("warc-check", archives::warc_check, archives::warc_seeds, LONG),
    target("warc-fields", archives::warc_fields, archives::warc_fields_seeds, SHORT),
    target("warc-member", archives::warc_member, archives::warc_seeds, LONG),
];

/// The target called `name`.
#[must_use]
pub fn find(name: &str) -> Option<&'static FuzzTarget> {
    TARGETS.iter().find(|target| target.name == name)
}

/// The first byte as a choice, and the rest. Without a byte the choice is 0.
fn choice(data: &[u8]) -> (usize, &[u8]) {
    data.split_first().map_or((0, data), |(first, rest)| (usize::from(*first), rest))
}

/// Pieces of an input, each after its length in two bytes. The last one may be cut short.
fn pieces(mut data: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (length, rest) = data.split_first_chunk()?;
        let (piece, rest) = rest.split_at(usize::from(u16::from_le_bytes(*length)).min(rest.len()));
        data = rest;
        Some(piece)
    })
}

/// An input that [`pieces`] takes apart into these.
fn joined<P: AsRef<[u8]>>(pieces: impl IntoIterator<Item = P>) -> Vec<u8> {
    let mut data = Vec::new();
    for piece in pieces {
        let piece = piece.as_ref();
        data.extend_from_slice(&u16::try_from(piece.len()).expect("seeds are short").to_le_bytes());
        data.extend_from_slice(piece);
    }
    data
}

/// Seeds from texts.
fn texts(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// The page that every reference is read against.
fn page() -> base::PageUrl {
    base::PageUrl::parse("http://www.example.jp/dir/page?q=1").expect("that is a URL")
}

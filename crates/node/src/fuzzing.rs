//! Decoders of settings and of the control socket, for the fuzzer and the tests of its corpora.

use crate::config::Config;
use crate::control::{ControlRequest, read_answer as decode_answer};
use crate::takedown::parse_target;
use base::PageUrl;
use frontier::Selection;

/// The settings as they are compiled in.
#[must_use]
pub fn default_settings() -> &'static str {
    crate::config::DEFAULT
}

/// Reads a configuration file. What a crawl would store of it is read as it is written.
///
/// # Panics
/// When a decoder is wrong.
pub fn read_settings(text: &str) {
    let Ok(config) = Config::parse(text).map_err(|error| assert!(!error.to_string().contains('\u{1b}')))
    else {
        return;
    };
    let stored = config.stored_lines();
    let again = Config::parse(&stored);
    let again = again.unwrap_or_else(|error| panic!("{stored:?} is not read again: {error}"));
    assert_eq!(again.stored_lines(), stored, "settings are read as they are stored");
}

/// Reads a request to the control socket, and the words in it.
///
/// # Panics
/// When a decoder is wrong.
pub fn read_request(line: &[u8]) {
    let Ok(request) = serde_json::from_slice::<ControlRequest>(line) else { return };
    let text = serde_json::to_string(&request).expect("a request is written");
    let again: ControlRequest = serde_json::from_str(&text).expect("a request is read as it is written");
    assert_eq!(again, request);
    assert!(!(request.is_long() && request.is_question()), "{text}");
    match request {
        ControlRequest::Direct { pages, .. } => pages.iter().for_each(|page| {
            if let Some(selection) = Selection::read(page) {
                assert_eq!(Selection::read(&selection.to_string()), Some(selection));
            }
        }),
        ControlRequest::Add { pages } => pages.iter().for_each(|page| drop(PageUrl::parse(&page.url))),
        ControlRequest::Explain { url } => drop(PageUrl::parse(&url)),
        ControlRequest::Takedown { target, .. } => {
            if let Some(target) = parse_target(&target) {
                let again = parse_target(&target.to_string()).expect("a target is read as it is written");
                assert_eq!(again.to_string(), target.to_string());
            }
        }
        _ => {}
    }
}

/// Reads the answer of a control socket.
pub fn read_answer(text: &str) {
    let _ = decode_answer(text);
}

//! A second reader of pages, over html5gum's tokenizer: slower, written apart, and asked whether ours is right.
//!
//! It takes what stands in `noscript` for text and in `noframes` for markup, so neither may stand in what is compared.

use base::PageUrl;
use base::exclusion::Directives;
use html::LinkKind;
use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};
use std::collections::HashMap;
use std::convert::Infallible;

/// What the oracle finds on a page.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Found {
    /// The title, white space folded.
    pub(crate) title: String,
    /// The targets in order, with kind and `nofollow`.
    pub(crate) links: Vec<(PageUrl, LinkKind, bool)>,
    /// What the page asks of robots.
    pub(crate) asks: Directives,
}

/// Reads a page.
pub(crate) fn read(url: &PageUrl, text: &str, agent: &str) -> Found {
    let mut walk = Walk::new(url.clone(), agent);
    let mut emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| -> Option<Infallible> {
        walk.step(&event);
        None
    });
    emitter.naively_switch_states(true);
    // The callback yields nothing, so the first step of the iterator walks the whole page.
    assert!(Tokenizer::new_with_emitter(text, emitter).next().is_none());
    let title = walk.title.unwrap_or_default();
    walk.found.title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    walk.found
}

struct Walk<'a> {
    agent: &'a str,
    base: PageUrl,
    has_base: bool,
    title: Option<String>,
    in_title: bool,
    found: Found,
    places: HashMap<(PageUrl, LinkKind), usize>,
    name: Vec<u8>,
    values: [Option<String>; NAMES.len()],
    wanted: Option<usize>,
}

const NAMES: [&str; 11] =
    ["href", "src", "rel", "type", "content", "name", "http-equiv", "data", "poster", "srcset", "hreflang"];

impl<'a> Walk<'a> {
    fn new(base: PageUrl, agent: &'a str) -> Self {
        Self {
            agent,
            base,
            has_base: false,
            title: None,
            in_title: false,
            found: Found::default(),
            places: HashMap::new(),
            name: Vec::new(),
            values: [const { None }; NAMES.len()],
            wanted: None,
        }
    }

    fn step(&mut self, event: &CallbackEvent<'_>) {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                self.name = name.to_vec();
                self.values = [const { None }; NAMES.len()];
                self.wanted = None;
            }
            CallbackEvent::AttributeName { name } => {
                let place = NAMES.iter().position(|known| known.as_bytes() == *name);
                // An attribute that stands twice counts the first time.
                self.wanted = place.filter(|place| self.values[*place].is_none());
                if let Some(place) = self.wanted {
                    self.values[place] = Some(String::new());
                }
            }
            CallbackEvent::AttributeValue { value } => {
                if let Some(place) = self.wanted {
                    self.values[place] = Some(String::from_utf8_lossy(value).into_owned());
                }
            }
            CallbackEvent::CloseStartTag { .. } => self.tag(),
            CallbackEvent::EndTag { name } => self.in_title &= *name != b"title",
            CallbackEvent::String { value } if self.in_title => {
                self.title.get_or_insert_default().push_str(&String::from_utf8_lossy(value));
            }
            _ => {}
        }
    }

    fn value(&self, name: &str) -> String {
        let place = NAMES.iter().position(|known| *known == name).expect("a known name");
        self.values[place].clone().unwrap_or_default()
    }
    fn has_word(&self, word: &str) -> bool {
        self.value("rel")
            .split([' ', '\t', '\n', '\r', '\x0c', ','])
            .any(|found| found.eq_ignore_ascii_case(word))
    }

    fn tag(&mut self) {
        let name = String::from_utf8_lossy(&self.name).into_owned();
        match name.as_str() {
            "a" | "area" => self.add(&self.value("href"), LinkKind::Anchor, self.has_word("nofollow")),
            "frame" | "iframe" => self.add(&self.value("src"), LinkKind::Frame, false),
            "img" | "script" | "source" | "embed" | "input" | "audio" | "video" | "track" => {
                self.add(&self.value("src"), LinkKind::Embed, false);
                self.add(&self.value("poster"), LinkKind::Embed, false);
                for candidate in self.value("srcset").split(", ") {
                    self.add(
                        candidate.split_ascii_whitespace().next().unwrap_or_default(),
                        LinkKind::Embed,
                        false,
                    );
                }
            }
            "object" => self.add(&self.value("data"), LinkKind::Embed, false),
            "link" => self.link_element(),
            "base" if !self.has_base && self.values[0].is_some() => {
                self.has_base = true;
                self.base = self.base.join(&self.value("href")).unwrap_or(self.base.clone());
            }
            "meta" => self.meta_element(),
            "title" => self.in_title = self.title.is_none(),
            _ => {}
        }
    }

    fn link_element(&mut self) {
        let feed =
            ["application/rss+xml", "application/atom+xml", "application/feed+json", "application/json"];
        let kind = if self.has_word("stylesheet") || self.has_word("icon") {
            LinkKind::Embed
        } else if self.has_word("canonical") {
            LinkKind::Canonical
        } else if self.has_word("alternate") && feed.contains(&self.value("type").to_ascii_lowercase().trim())
        {
            LinkKind::Feed
        } else if self.has_word("alternate") {
            if self.values[10].is_some() { LinkKind::Language } else { LinkKind::Alternate }
        } else if self.has_word("next") || self.has_word("prev") {
            LinkKind::Anchor
        } else {
            return;
        };
        self.add(&self.value("href"), kind, false);
    }

    fn meta_element(&mut self) {
        let name = self.value("name");
        let name = name.trim_ascii();
        if name.eq_ignore_ascii_case("robots") || name.eq_ignore_ascii_case(self.agent) {
            self.found.asks = self.found.asks.and(Directives::of_meta(&self.value("content")));
        } else if self.value("http-equiv").trim_ascii().eq_ignore_ascii_case("refresh") {
            let content = self.value("content");
            let target = content.split_once([';', ',']).map_or("", |(_, rest)| rest).trim();
            if target.get(..3).is_some_and(|word| word.eq_ignore_ascii_case("url"))
                && let Some(target) = target[3..].trim_start().strip_prefix('=')
            {
                self.add(target.trim().trim_matches(['\'', '"']), LinkKind::Refresh, false);
            }
        }
    }

    fn add(&mut self, reference: &str, kind: LinkKind, nofollow: bool) {
        // What is needed to show the page and is a part of it is no link.
        if kind == LinkKind::Embed && reference.trim_ascii().starts_with('#') {
            return;
        }
        let reference = reference.trim_ascii();
        let Ok(url) = self.base.join(reference) else { return };
        if reference.is_empty() {
            return;
        }
        match self.places.get(&(url.clone(), kind)) {
            Some(place) => self.found.links[*place].2 &= nofollow,
            None => {
                self.places.insert((url.clone(), kind), self.found.links.len());
                self.found.links.push((url, kind, nofollow));
            }
        }
    }
}

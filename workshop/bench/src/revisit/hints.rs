//! What a sitemap or a feed would say of the pages of a trace, once a day.

use super::trace::{Event, Trace};
use base::Chance;

/// Of which pages hints are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Of all.
    All,
    /// Of half of them.
    Half,
    /// Of all, but for a tenth of them at moments that have nothing to do with their changes.
    Wrong,
}

impl Kind {
    pub(crate) const ALL: [Self; 3] = [Self::All, Self::Half, Self::Wrong];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Half => "half",
            Self::Wrong => "tenth-wrong",
        }
    }
}

/// How often the sitemap is looked at.
const LOOKED_AT: f64 = 86_400.0;

/// The hints of a trace, in time order.
#[derive(Debug)]
pub(crate) struct Hints {
    from: f64,
    covered: Vec<bool>,
    news: Vec<(f64, u32)>,
}

impl Hints {
    pub(crate) fn of(trace: &Trace, kind: Kind) -> Self {
        let mut chance = Chance::new(7);
        let draws: Vec<f64> = trace.paths.iter().map(|_| chance.unit()).collect();
        let covered: Vec<bool> = draws.iter().map(|draw| kind != Kind::Half || *draw < 0.5).collect();
        let events =
            trace.events.iter().filter(|event| event.2 != Event::Vanished && covered[event.1 as usize]);
        let mut news: Vec<(f64, u32)> = events
            .map(|(at, page, _)| {
                let is_wrong = kind == Kind::Wrong && draws[*page as usize] < 0.1;
                (if is_wrong { trace.from + (trace.to - trace.from) * chance.unit() } else { *at }, *page)
            })
            .collect();
        news.sort_by(|a, b| a.0.total_cmp(&b.0));
        Self { from: trace.from, covered, news }
    }
    pub(crate) fn covers(&self, page: u32) -> bool {
        self.covered[page as usize]
    }
    /// What is new since the last look, when a day has passed; `heard` is what was heard so far.
    pub(crate) fn look(&self, heard: &mut (usize, f64), now: f64) -> Option<&[(f64, u32)]> {
        if now < self.from.max(heard.1) + LOOKED_AT {
            return None;
        }
        let fresh = self.news[heard.0..].partition_point(|news| news.0 <= now);
        let news = &self.news[heard.0..heard.0 + fresh];
        *heard = (heard.0 + fresh, now);
        Some(news)
    }
}

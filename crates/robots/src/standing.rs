//! The state of one origin's robots file over time (RFC 9309 §2.3.1 and §2.4; H12).
//!
//! | the file | pages | next fetch |
//! |---|---|---|
//! | was received (2xx) | its rules | after a day |
//! | is redirected (3xx) | wait | at the target, at once, up to 5 times, on any server |
//! | is redirected for the sixth time | allowed: RFC 9309 §2.3.1.2 permits treating it as absent | after a day |
//! | does not exist (4xx, but 429) | allowed | after a day |
//! | is unreachable, and was received less than 30 days ago | its old rules | after an hour, then 2, 4 … 24 |
//! | is unreachable | refused | after an hour, then 2, 4 … 24 |
//!
//! A server that sends a time to retry gets no earlier request. RFC 9309 §2.3.1.4 permits treating a file that was
//! unreachable for a month as absent. Here it still refuses everything: a server that cannot serve a robots file for a
//! month did not thereby permit visits. Only a file that existed has old rules; the absence of a file permits nothing
//! later.
//!
//! **Invariant:** no clock is read, and the same responses at the same times give the same state, so that it can be
//! rebuilt from the archive (D3).

use crate::{RobotsAnswer, RobotsRules};
use base::limits::{ROBOTS_LIFETIME, ROBOTS_REDIRECTS_MAX, ROBOTS_STALE_MAX, SERVER_PAUSE_MAX};
use base::url::Origin;
use base::{Interval, PageUrl, Timestamp};
use std::sync::Arc;

/// The delay until an unreachable file is fetched again; it doubles with each failure, up to a day.
const RETRY_FIRST: Interval = Interval::from_hours(1);
const _: () = assert!(RETRY_FIRST.as_seconds() < ROBOTS_LIFETIME.as_seconds());

/// The state of one origin's robots file.
#[derive(Clone, Debug)]
pub struct Standing {
    /// The URL of the file.
    home: PageUrl,
    state: State,
    /// The last file received, and when.
    copy: Option<(Arc<RobotsRules>, Timestamp)>,
    /// Failures in a row.
    failures: u32,
}

#[derive(Clone, Debug)]
enum State {
    /// It must be fetched here, after this many redirects.
    Asking(PageUrl, usize),
    /// These rules apply until then.
    Known(Arc<RobotsRules>, Timestamp),
    /// Everything is refused until then.
    Unreachable(Timestamp),
}

/// What must happen before a page of the origin is judged.
#[derive(Clone, Debug)]
pub enum Need {
    /// Fetch the file here first.
    Ask(PageUrl),
    /// Nothing: these are the rules.
    Known(Arc<RobotsRules>),
    /// The file is unreachable: no page may be visited, and the file is fetched again at this time.
    Unreachable(Timestamp),
}

/// The URL of the robots file of an origin; `None` if the name is too long for a valid URL.
#[must_use]
pub fn home(origin: &Origin) -> Option<PageUrl> {
    PageUrl::parse(&format!("{origin}/robots.txt")).ok()
}

impl Standing {
    /// The state before the first fetch.
    #[must_use]
    pub fn new(home: PageUrl) -> Self {
        Self { state: State::Asking(home.clone(), 0), home, copy: None, failures: 0 }
    }

    /// What must be done at `now`.
    #[must_use]
    pub fn needs(&self, now: Timestamp) -> Need {
        match &self.state {
            State::Asking(at, _) => Need::Ask(at.clone()),
            State::Known(_, until) | State::Unreachable(until) if *until <= now => {
                Need::Ask(self.home.clone())
            }
            State::Known(rules, _) => Need::Known(Arc::clone(rules)),
            State::Unreachable(until) => Need::Unreachable(*until),
        }
    }

    /// Records the result of the fetch that [`Standing::needs`] asked for.
    pub fn learn(&mut self, answer: &RobotsAnswer, now: Timestamp) {
        let redirects = if let State::Asking(_, redirects) = &self.state { *redirects } else { 0 };
        self.state = match answer {
            RobotsAnswer::Rules(rules) => {
                self.copy = Some((Arc::clone(rules), now));
                self.believe(rules, now)
            }
            RobotsAnswer::Elsewhere(target) if redirects < ROBOTS_REDIRECTS_MAX => {
                State::Asking(target.clone(), redirects + 1)
            }
            RobotsAnswer::Elsewhere(_) | RobotsAnswer::Absent => {
                self.copy = None;
                self.believe(&Arc::default(), now)
            }
            RobotsAnswer::Unreachable(asked) => self.without_file(*asked, now),
        };
    }

    fn believe(&mut self, rules: &Arc<RobotsRules>, now: Timestamp) -> State {
        self.failures = 0;
        State::Known(Arc::clone(rules), now.plus(ROBOTS_LIFETIME))
    }

    /// The rules that apply while the file is unreachable: the last ones received, unless they are too old.
    fn without_file(&mut self, asked: Option<Interval>, now: Timestamp) -> State {
        let again = now.plus(self.retry_after(asked));
        match &self.copy {
            Some((rules, came)) if now.since(*came) < ROBOTS_STALE_MAX => {
                State::Known(Arc::clone(rules), again.min(came.plus(ROBOTS_STALE_MAX)))
            }
            _ => State::Unreachable(again),
        }
    }

    fn retry_after(&mut self, asked: Option<Interval>) -> Interval {
        self.failures = self.failures.saturating_add(1);
        let doubled = f64::from(1_u32 << (self.failures - 1).min(16));
        let own = RETRY_FIRST.times(doubled).min(ROBOTS_LIFETIME);
        own.max(asked.unwrap_or(Interval::ZERO)).min(SERVER_PAUSE_MAX)
    }

    /// The last result and its time, if it still applies and the file was not redirected. Other origins that redirect to
    /// this file need not fetch it again.
    #[must_use]
    pub fn said(&self, now: Timestamp) -> Option<(RobotsAnswer, Timestamp)> {
        let State::Known(rules, until) = &self.state else { return None };
        let was_there = self.copy.is_some();
        let answer = if was_there { RobotsAnswer::Rules(Arc::clone(rules)) } else { RobotsAnswer::Absent };
        (self.failures == 0 && now < *until).then(|| (answer, until.minus(ROBOTS_LIFETIME)))
    }

    /// The crawl delay of the file, if known.
    #[must_use]
    pub fn crawl_delay(&self) -> Interval {
        let delay = |rules: &Arc<RobotsRules>| rules.crawl_delay();
        let known = if let State::Known(rules, _) = &self.state { delay(rules) } else { None };
        let last = || self.copy.as_ref().and_then(|(rules, _)| delay(rules));
        known.or_else(last).unwrap_or(Interval::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp::from_seconds(1_800_000_000).expect("in range");

    fn url(text: &str) -> PageUrl {
        PageUrl::parse(text).unwrap()
    }

    fn rules(text: &str) -> RobotsAnswer {
        RobotsAnswer::Rules(Arc::new(RobotsRules::for_agent(text.as_bytes(), "utsushi")))
    }

    fn at(hours: u64) -> Timestamp {
        START.plus(Interval::from_hours(hours))
    }

    /// The rule for `/x` after this many hours, in a word or two.
    fn told(standing: &Standing, hours: u64) -> String {
        match standing.needs(at(hours)) {
            Need::Ask(url) => format!("ask {url}"),
            Need::Known(rules) => (if rules.judge("/x").allowed { "yes" } else { "no" }).to_owned(),
            Need::Unreachable(until) => format!("none until {}h", until.since(START).as_seconds() / 3_600),
        }
    }

    /// Replays responses at these hours; returns the rule right after each.
    #[track_caller]
    fn check(played: &[(u64, RobotsAnswer, &str)]) -> Standing {
        let mut standing = Standing::new(url("http://a.example/robots.txt"));
        for (hours, answer, expected) in played {
            standing.learn(answer, at(*hours));
            assert_eq!(told(&standing, *hours), *expected, "{answer:?} after {hours} hours");
        }
        standing
    }

    #[test]
    fn a_file_that_came_counts_for_a_day() {
        let standing = check(&[(0, rules("User-agent: *\nDisallow: /x"), "no")]);
        assert_eq!(told(&standing, 23), "no");
        assert_eq!(told(&standing, 24), "ask http://a.example/robots.txt");
        assert!(matches!(standing.said(at(23)), Some((RobotsAnswer::Rules(_), came)) if came == START));
        assert!(standing.said(at(24)).is_none());
        let standing = check(&[(0, RobotsAnswer::Absent, "yes")]);
        assert!(matches!(standing.said(at(23)), Some((RobotsAnswer::Absent, _))));
        assert_eq!(told(&standing, 23), "yes");
        assert_eq!(told(&standing, 24), "ask http://a.example/robots.txt");
    }

    #[test]
    fn five_redirects_are_followed_to_any_server_and_the_sixth_means_absent() {
        let moved = |text| RobotsAnswer::Elsewhere(url(text));
        let standing = check(&[
            (0, moved("https://a.example/robots.txt"), "ask https://a.example/robots.txt"),
            (0, moved("https://b.example/robots.txt"), "ask https://b.example/robots.txt"),
            (0, moved("https://b.example/r"), "ask https://b.example/r"),
            (0, moved("http://a.example/robots.txt"), "ask http://a.example/robots.txt"),
            (0, moved("http://c.example/5"), "ask http://c.example/5"),
            (0, moved("http://c.example/6"), "yes"),
        ]);
        assert_eq!(told(&standing, 24), "ask http://a.example/robots.txt", "and the count begins anew");
        check(&[
            (0, moved("http://c.example/1"), "ask http://c.example/1"),
            (0, rules("User-agent: *\nDisallow: /x"), "no"),
            (24, moved("http://c.example/1"), "ask http://c.example/1"),
            (24, RobotsAnswer::Unreachable(None), "no"),
        ]);
    }

    #[test]
    fn what_cannot_be_had_refuses_and_is_asked_for_less_and_less_often() {
        let none = || RobotsAnswer::Unreachable(None);
        check(&[
            (0, none(), "none until 1h"),
            (1, none(), "none until 3h"),
            (3, none(), "none until 7h"),
            (7, none(), "none until 15h"),
            (15, none(), "none until 31h"),
            (31, none(), "none until 55h"),
            (55, none(), "none until 79h"),
            (24 * 40, none(), "none until 984h"),
            (984, RobotsAnswer::Absent, "yes"),
            (1_008, none(), "none until 1009h"),
        ]);
    }

    #[test]
    fn a_server_says_when_it_wants_to_be_asked_again() {
        let asks = |hours| RobotsAnswer::Unreachable(Some(Interval::from_hours(hours)));
        check(&[(0, asks(0), "none until 1h")]);
        check(&[(0, asks(5), "none until 5h")]);
        check(&[(0, asks(500), "none until 24h")]);
    }

    #[test]
    fn old_rules_serve_for_thirty_days_and_the_absence_of_rules_does_not() {
        let none = || RobotsAnswer::Unreachable(None);
        let day = 24;
        let mut standing = check(&[
            (0, rules("User-agent: *\nDisallow: /x\nCrawl-delay: 7"), "no"),
            (day, none(), "no"),
            (29 * day, none(), "no"),
            (30 * day - 1, none(), "no"),
        ]);
        assert_eq!(standing.crawl_delay(), Interval::from_seconds(7));
        assert!(standing.said(at(30 * day - 1)).is_none(), "the file itself says nothing any more");
        assert_eq!(told(&standing, 30 * day), "ask http://a.example/robots.txt", "and not a moment longer");
        standing.learn(&none(), at(30 * day));
        assert_eq!(told(&standing, 30 * day), "none until 728h");
        assert_eq!(standing.crawl_delay(), Interval::from_seconds(7), "what is known is kept");
        check(&[(0, RobotsAnswer::Absent, "yes"), (day, none(), "none until 25h")]);
        check(&[
            (0, rules(""), "yes"),
            (day, RobotsAnswer::Absent, "yes"),
            (2 * day, none(), "none until 49h"),
        ]);
    }
}

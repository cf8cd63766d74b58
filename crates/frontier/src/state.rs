//! What is known about a page, and its encoding (C2). `docs/formats/frontier.md` shows the bytes.

use crate::Role;
use crate::codec::{Fields, put, put_bytes};
use crate::held_back::HoldReason;
use crate::lesson::{RETRIES_MAX, RETRY_SOON_MAX};
use crate::moment::{at_seconds, seconds};
use crate::revisit::estimate::Belief;
use crate::revisit::{History, RevisitPolicy};
use base::{Interval, Timestamp};
use sat::{Minute, Number};

const FORM: u8 = 2;
/// The encoding before beliefs were stored.
const FORM_WITHOUT_BELIEF: u8 = 1;

/// What is known about a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct State {
    /// The URL that is requested.
    pub url: String,
    pub role: Role,
    pub priority: i8,
    /// Number of redirects and requisites that led to it.
    pub hops: u8,
    /// How often in a row it redirected to another form of itself.
    pub own_moves: u8,
    pub first_seen: u64,
    /// The page on which it was found.
    pub found_on: Option<Number>,
    /// When it had changed according to the feed or sitemap in which it was found, in seconds; 0 if it was found
    /// elsewhere.
    pub announced: u64,
    /// The latest change that a feed or a sitemap announced, and when the first announcement was seen, in seconds; 0 if
    /// none was.
    pub hinted: u64,
    pub heard: u64,
    /// Answered visits.
    pub visits: u32,
    pub changes: u32,
    /// Changes beside the main text, which do not count (C3).
    pub side_changes: u32,
    /// Seconds: T, U, the shortest interval that showed a change, the last interval.
    pub elapsed: u64,
    pub unchanged: u64,
    pub change_min: u64,
    pub last_gap: u64,
    /// Further state of the estimators.
    pub belief: Belief,
    /// The page's own interval, in seconds; 0 before the first answer.
    pub interval: u64,
    /// The interval that was chosen, in seconds; 0 before the first visit.
    pub wait: u64,
    /// Its turn by the clock of its server's budget, in seconds.
    pub turn: f64,
    /// The last capture that was learned, in microseconds; 0 if none was.
    pub last_visit: i64,
    /// The last one that was an answer.
    pub last_answer: i64,
    /// When it is due.
    pub next_due: Minute,
    pub version: Version,
    /// The digest of the main text; 0 if there is none.
    pub main: u64,
    /// Failures, or refusals, in a row.
    pub failures: u32,
    pub outcome: LastOutcome,
    pub status: u16,
    /// Why the filter rejects it, so that its links are not followed and it is visited rarely.
    pub filtered: String,
    /// Dropped because its server's requests do not suffice (C5).
    pub dropped: bool,
    /// It was named, or a seed led to it: its surroundings belong to the crawl.
    pub is_seed: bool,
    /// The target of its redirect at the last answer; empty if there was none.
    pub moved_to: String,
    pub etag: String,
    pub last_modified: String,
    /// It is never held back: it was named, a feed or a sitemap lists it, or another site links to it (H10).
    pub vouched: bool,
    /// Why it is held back, if it is.
    pub held: Option<HoldReason>,
    /// When an operator ordered a visit that was not made yet, in seconds; 0 if there is none.
    pub asked: u64,
    /// When an operator removed it from the crawl, in seconds; 0 if it was not removed.
    pub removed: u64,
    /// The burst in which its last change was found; 0 if none was.
    pub event: u32,
}

/// What a page was last seen to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Version {
    #[default]
    Unknown,
    Content([u8; 16]),
    /// A redirect, by a hash of where it leads.
    Moved(u64),
    Gone,
}

/// How the last visit ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LastOutcome {
    #[default]
    Never,
    Fetched,
    Cut,
    NotModified,
    Moved,
    Gone,
    Failed,
    Unreachable,
    Robots,
    RobotsUnreachable,
    OptOut,
    Address,
    NoContact,
    Proxy,
}

impl LastOutcome {
    const ALL: [Self; 14] = [
        Self::Never,
        Self::Fetched,
        Self::Cut,
        Self::NotModified,
        Self::Moved,
        Self::Gone,
        Self::Failed,
        Self::Unreachable,
        Self::Robots,
        Self::RobotsUnreachable,
        Self::OptOut,
        Self::Address,
        Self::NoContact,
        Self::Proxy,
    ];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Never => "never visited",
            Self::Fetched => "fetched",
            Self::Cut => "fetched in part",
            Self::NotModified => "not modified",
            Self::Moved => "moved",
            Self::Gone => "gone",
            Self::Failed => "failed",
            Self::Unreachable => "unreachable",
            Self::Robots => "refused by the robots file",
            Self::RobotsUnreachable => "refused while the robots file cannot be fetched",
            Self::OptOut => "refused by the opt-out list",
            Self::Address => "refused for its address",
            Self::NoContact => "refused for lack of a contact",
            Self::Proxy => "refused by the proxy",
        }
    }
    /// Whether the settings of the crawl, except the opt-out list, are the reason of a refusal.
    pub(crate) const fn is_by_settings(self) -> bool {
        matches!(self, Self::Address | Self::NoContact | Self::Proxy)
    }
    pub(crate) const fn is_refusal(self) -> bool {
        matches!(
            self,
            Self::Robots
                | Self::RobotsUnreachable
                | Self::OptOut
                | Self::Address
                | Self::NoContact
                | Self::Proxy
        )
    }
}

impl State {
    /// A page that was never visited.
    pub(crate) fn new(url: &str, role: Role, priority: i8, first_seen: Timestamp) -> Self {
        let next_due = crate::moment::minute(first_seen);
        Self {
            url: url.to_owned(),
            role,
            priority,
            first_seen: seconds(first_seen),
            next_due,
            ..Self::default()
        }
    }

    /// What its intervals are estimated from.
    pub(crate) fn history(&self) -> History {
        History {
            visits: self.visits,
            changes: self.changes,
            elapsed: Interval::from_seconds(self.elapsed),
            unchanged: Interval::from_seconds(self.unchanged),
            change_min: Interval::from_seconds(self.change_min),
            last: Interval::from_seconds(self.last_gap),
            age: self.age(),
        }
    }
    /// At the last answer, how long ago the page had changed according to itself; the future and the distant past are
    /// ignored (M9).
    fn age(&self) -> Option<Interval> {
        let modified = Timestamp::parse_http_date(&self.last_modified).map_or(0, seconds);
        let changed = modified.max(self.announced);
        let answered = seconds(Timestamp::from_micros(self.last_answer)?);
        let believed = changed >= EARLIEST && changed < answered;
        believed.then(|| Interval::from_seconds(answered - changed))
    }
    /// The interval that counts in its server's load; dropped pages still count. With a budget, feeds and similar
    /// pages, and pages that are gone, have no share.
    pub(crate) fn load_interval(&self, policy: &RevisitPolicy) -> Option<u64> {
        let has_part = !policy.has_budget() || (self.role == Role::Page && !self.is_gone());
        let counts = self.interval > 0 && has_part && self.removed == 0;
        counts.then_some(self.interval)
    }
    /// The importance of the page in the selection of paper 004, from its priority (C14).
    pub(crate) fn importance(&self) -> f64 {
        1.0 - 0.5_f64.powf(f64::from(self.priority.clamp(0, 8)) / 2.0)
    }
    pub(crate) fn is_new(&self) -> bool {
        self.last_visit == 0
    }
    /// Whether it waits for its first visit.
    pub(crate) fn waits(&self) -> bool {
        self.is_new() && self.removed == 0
    }
    /// Whether there was something at the last visit.
    pub(crate) fn is_live(&self) -> bool {
        self.failures == 0 && matches!(self.version, Version::Content(_) | Version::Moved(_))
    }
    /// Whether the last visit failed. A missing page is an answer.
    pub(crate) fn is_failing(&self) -> bool {
        self.removed == 0 && matches!(self.outcome, LastOutcome::Failed | LastOutcome::Unreachable)
    }
    /// Whether it failed with something that may pass, and is visited again soon.
    pub(crate) fn is_retried(&self) -> bool {
        let is_soon = self.wait <= RETRY_SOON_MAX.as_seconds();
        self.is_failing() && (1..=RETRIES_MAX).contains(&self.failures) && is_soon
    }
    /// Whether a feed or a sitemap told of a change since its last visit.
    pub(crate) fn is_hinted(&self) -> bool {
        Timestamp::from_micros(self.last_visit).is_some_and(|last| self.hinted > seconds(last))
    }
    pub(crate) fn is_gone(&self) -> bool {
        self.version == Version::Gone
    }

    /// The state as bytes.
    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.push(FORM);
        put_bytes(bytes, self.url.as_bytes());
        #[expect(clippy::cast_sign_loss, reason = "read back by the same cast")]
        bytes.extend_from_slice(&[
            self.role as u8,
            self.priority as u8,
            self.hops,
            self.own_moves,
            self.outcome as u8,
            u8::from(self.dropped) | u8::from(self.is_seed) << 1,
        ]);
        let found_on = self.found_on.map_or(0, |number| u64::from(number.0) + 1);
        for number in
            [self.first_seen, found_on, self.announced, self.next_due.0.into(), self.failures.into()]
        {
            put(bytes, number);
        }
        put(bytes, self.status.into());
        put(bytes, self.last_visit.unsigned_abs());
        if self.last_visit != 0 {
            self.write_visits(bytes);
        }
        put(bytes, self.hinted);
        put(bytes, self.heard);
        put(bytes, self.vouched.into());
        put(bytes, self.held.map_or(0, |reason| reason.code().into()));
        put(bytes, self.asked);
        put(bytes, self.removed);
        put_bytes(bytes, self.moved_to.as_bytes());
        put(bytes, self.event.into());
    }
    fn write_visits(&self, bytes: &mut Vec<u8>) {
        let since_answer = u64::try_from(self.last_visit - self.last_answer).expect("an answer is a visit");
        for number in [
            since_answer,
            self.visits.into(),
            self.changes.into(),
            self.side_changes.into(),
            self.elapsed,
            self.unchanged,
            self.change_min,
            self.last_gap,
            self.interval,
            self.wait,
        ] {
            put(bytes, number);
        }
        bytes.extend_from_slice(&self.turn.to_le_bytes());
        bytes.extend_from_slice(&self.belief.shape.to_le_bytes());
        bytes.extend_from_slice(&self.belief.days.to_le_bytes());
        bytes.extend_from_slice(&self.belief.clock.to_le_bytes());
        put(bytes, self.belief.gaps.len() as u64);
        for (length, count) in &self.belief.gaps {
            put(bytes, (*length).into());
            put(bytes, (*count).into());
        }
        self.version.write(bytes);
        bytes.extend_from_slice(&self.main.to_le_bytes());
        put_bytes(bytes, self.etag.as_bytes());
        put_bytes(bytes, self.last_modified.as_bytes());
        put_bytes(bytes, self.filtered.as_bytes());
    }

    /// Reads the bytes; `None` for an unknown encoding.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let (form, rest) = bytes.split_first()?;
        if ![FORM, FORM_WITHOUT_BELIEF].contains(form) {
            return None;
        }
        let mut fields = Fields(rest);
        let url = fields.text().to_owned();
        let [role, priority, hops, own_moves, outcome, marks] = fields.array();
        let mut state = Self {
            url,
            role: Role::ALL.get(usize::from(role)).copied().unwrap_or_default(),
            priority: i8::from_le_bytes([priority]),
            hops,
            own_moves,
            outcome: LastOutcome::ALL.get(usize::from(outcome)).copied().unwrap_or_default(),
            dropped: marks & 1 != 0,
            is_seed: marks & 2 != 0,
            first_seen: fields.number(),
            found_on: fields.number().checked_sub(1).map(|number| Number(u32::try_from(number).unwrap_or(0))),
            announced: fields.number(),
            next_due: Minute(fields.small(u32::MAX)),
            failures: fields.small(u32::MAX),
            status: fields.small(u16::MAX),
            last_visit: fields.small(i64::MAX),
            ..Self::default()
        };
        if state.last_visit != 0 {
            state.read_visits(&mut fields, *form);
        }
        if *form == FORM {
            (state.hinted, state.heard) = (fields.number(), fields.number());
            state.vouched = fields.number() != 0;
            state.held = HoldReason::of_code(fields.number());
            (state.asked, state.removed) = (fields.number(), fields.number());
            fields.text().clone_into(&mut state.moved_to);
            state.event = fields.small(u32::MAX);
        }
        Some(state)
    }
    fn read_visits(&mut self, fields: &mut Fields<'_>, form: u8) {
        self.last_answer = self.last_visit - fields.small(i64::MAX);
        (self.visits, self.changes, self.side_changes) =
            (fields.small(u32::MAX), fields.small(u32::MAX), fields.small(u32::MAX));
        (self.elapsed, self.unchanged, self.change_min) = (fields.number(), fields.number(), fields.number());
        (self.last_gap, self.interval) = (fields.number(), fields.number());
        self.wait = self.interval;
        if form == FORM {
            self.wait = fields.number();
            self.turn = f64::from_le_bytes(fields.array());
            self.belief.shape = f32::from_le_bytes(fields.array());
            self.belief.days = f32::from_le_bytes(fields.array());
            self.belief.clock = f64::from_le_bytes(fields.array());
            let gaps = fields.number().min(64);
            self.belief.gaps = (0..gaps).map(|_| (fields.small(u32::MAX), fields.small(u32::MAX))).collect();
        }
        self.version = Version::read(fields);
        self.main = u64::from_le_bytes(fields.array());
        self.etag = fields.text().to_owned();
        self.last_modified = fields.text().to_owned();
        self.filtered = fields.text().to_owned();
    }

    /// When the page was first seen.
    pub(crate) fn first_seen(&self) -> Timestamp {
        at_seconds(self.first_seen)
    }
}

/// The first second of the first year that is accepted in a date from the web (M9).
const EARLIEST: u64 = 788_918_400;
const _: () = assert!(base::limits::WEB_YEAR_MIN == 1995);

impl Version {
    fn write(self, bytes: &mut Vec<u8>) {
        match self {
            Self::Unknown => bytes.push(0),
            Self::Content(digest) => {
                bytes.push(1);
                bytes.extend_from_slice(&digest);
            }
            Self::Moved(hash) => {
                bytes.push(2);
                bytes.extend_from_slice(&hash.to_le_bytes());
            }
            Self::Gone => bytes.push(3),
        }
    }
    fn read(fields: &mut Fields<'_>) -> Self {
        match fields.array::<1>() {
            [1] => Self::Content(fields.array()),
            [2] => Self::Moved(u64::from_le_bytes(fields.array())),
            [3] => Self::Gone,
            _ => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(state: &State) {
        let mut bytes = Vec::new();
        state.write(&mut bytes);
        assert_eq!(State::read(&bytes).as_ref(), Some(state));
        for cut in 0..bytes.len() {
            // A truncated state is read as far as it goes, without a panic.
            let _ = State::read(&bytes[..cut]);
        }
    }

    #[test]
    fn a_state_is_read_as_it_was_written() {
        let at = Timestamp::from_seconds(1_800_000_000).unwrap();
        let mut state = State::new("http://a.example/?q=写", Role::Feed, -3, at);
        state.found_on = Some(Number(0));
        (state.announced, state.hinted, state.heard) = (1_700_000_000, 1_750_000_000, 1_740_000_000);
        check(&state);
        for reason in HoldReason::ALL {
            check(&State { vouched: reason == HoldReason::Echo, held: Some(reason), ..state.clone() });
        }
        let visited = State {
            hops: 3,
            own_moves: 1,
            visits: 7,
            changes: 3,
            side_changes: 1,
            elapsed: 864_000,
            unchanged: 400_000,
            change_min: 3_600,
            last_gap: 86_400,
            interval: 90_000,
            wait: 80_000,
            turn: 1e7,
            belief: Belief { shape: 1.5, days: 20.25, clock: 7.0, gaps: vec![(3_600, 2), (86_400, 1)] },
            last_visit: 1_800_000_000_123_456,
            last_answer: 1_800_000_000_000_001,
            next_due: Minute(30_000_900),
            version: Version::Content([7; 16]),
            main: 5,
            failures: 2,
            outcome: LastOutcome::Failed,
            status: 503,
            filtered: "language en".to_owned(),
            dropped: true,
            is_seed: true,
            moved_to: "http://b.example/".to_owned(),
            etag: "\"x\"".to_owned(),
            last_modified: "Sun, 06 Nov 1994 08:49:37 GMT".to_owned(),
            asked: 1_800_000_100,
            removed: 1_800_000_200,
            event: 7,
            ..state
        };
        check(&visited);
        check(&State { version: Version::Moved(9), ..visited.clone() });
        check(&State { version: Version::Gone, ..visited });
        assert_eq!(State::read(&[9, 9]), None);
        assert_eq!(State::read(&[]), None);
    }

    #[test]
    fn a_state_without_beliefs_is_read_with_its_old_meaning() {
        // `http://a.example/`, seen and visited in 2027, as form 1 has it.
        let mut bytes = vec![1];
        put_bytes(&mut bytes, b"http://a.example/");
        bytes.extend_from_slice(&[0, 2, 0, 0, LastOutcome::Fetched as u8, 0]);
        [1_800_000_000, 0, 0, 30_001_440, 0, 200].iter().for_each(|number| put(&mut bytes, *number));
        [1_800_000_000_000_000, 0, 4, 1, 0].iter().for_each(|number| put(&mut bytes, *number));
        [864_000, 600_000, 3_600, 86_400, 90_000].iter().for_each(|number| put(&mut bytes, *number));
        Version::Gone.write(&mut bytes);
        bytes.extend_from_slice(&7_u64.to_le_bytes());
        [&b"\"x\""[..], b"", b""].iter().for_each(|text| put_bytes(&mut bytes, text));
        let state = State::read(&bytes).unwrap();
        assert_eq!((state.url.as_str(), state.priority, state.visits), ("http://a.example/", 2, 4));
        assert_eq!((state.interval, state.wait, state.version), (90_000, 90_000, Version::Gone));
        assert_eq!((state.main, state.etag.as_str(), state.hinted), (7, "\"x\"", 0));
        assert_eq!(state.belief, Belief::default());
    }

    #[test]
    fn an_impossible_date_is_ignored() {
        let mut state = State { last_answer: 1_700_000_000_000_000, ..State::default() };
        for (date, days) in [
            ("Mon, 13 Nov 2023 22:13:20 GMT", Some(1)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", None),
            ("Mon, 13 Nov 2034 22:13:20 GMT", None),
            ("yesterday", None),
        ] {
            state.last_modified = date.to_owned();
            assert_eq!(state.history().age, days.map(Interval::from_days), "{date}");
        }
    }
}

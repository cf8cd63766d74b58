//! What a visit teaches of its page: the fold that makes a state of captures (D3, D4).
//!
//! **Invariant:** a state depends on the captures of its page, on the pace that its server's captures showed before, on the policy
//! and the seed, and on nothing else: not on the clock. Played again in the order of the archive, the captures give the same
//! state.

use crate::moment::{minute, seconds};
use crate::revisit::RevisitPolicy;
use crate::revisit::allocate::Allocation;
use crate::revisit::pace::Pace;
use crate::state::{LastOutcome, State, Version};
use crate::{FoundUrl, Role};
use base::limits::{REDIRECTS_MAX, REVISIT_INTERVAL_MAX};
use base::{Chance, Interval, PageUrl, Refusal, RefusalKind, Timestamp, chance, http};

/// A page that is gone is not looked for more often than this.
const GONE_INTERVAL_MIN: Interval = Interval::from_days(7);
/// Nor one that the filter does not want.
const FILTERED_INTERVAL_MIN: Interval = Interval::from_days(30);
/// Feeds and news front pages are looked at once a day at least (C11).
const NEWS_INTERVAL_MAX: Interval = Interval::from_days(1);
const SITEMAP_INTERVAL_MAX: Interval = Interval::from_days(7);
/// What pages show changes rarely, and its change matters little.
const REQUISITE_INTERVAL_MIN: Interval = Interval::from_days(7);
/// After a failure the page is tried again after this, then after twice as long, and so on.
const RETRY_FIRST: Interval = Interval::from_hours(1);
const RETRY_MAX: Interval = Interval::from_days(30);
/// Before that, a failure that may pass is tried again so often, after this, then after five times as long, and so on; or when the
/// server asks for it, if that is not too long.
pub(crate) const RETRIES_MAX: u32 = 3;
const RETRY_SOON: Interval = Interval::from_seconds(2);
const RETRY_GROWTH: i32 = 5;
pub(crate) const RETRY_SOON_MAX: Interval = Interval::from_minutes(10);
/// A page that may not be requested is judged again after this, when the robots file is fetched again, then after twice
/// as long, and so on.
const REFUSED_FIRST: Interval = Interval::from_minutes(24 * 60 + 1);
const REFUSED_MAX: Interval = Interval::from_days(64);

/// One capture, as far as it teaches anything.
#[derive(Clone, Debug)]
pub struct Lesson<'a> {
    /// The page, as it was handed out; nothing when the capture is read back from the archive.
    pub page: Option<sat::Number>,
    /// What was requested.
    pub url: &'a PageUrl,
    /// When.
    pub at: Timestamp,
    /// How it ended.
    pub result: VisitResult<'a>,
    /// Who answered, if anybody did.
    pub address: Option<std::net::IpAddr>,
    /// `ETag`.
    pub etag: Option<&'a str>,
    /// `Last-Modified`.
    pub last_modified: Option<&'a str>,
    /// What its text looks like, if it has one.
    pub text: Option<TextFeatures<'a>>,
    /// Why its links are not followed and it is looked at rarely; empty when the filter wants it.
    pub filtered: &'a str,
    /// Where it points to.
    pub links: &'a [FoundUrl],
    /// Hashes of links that are too long to be taken up (H10).
    pub too_long: &'a [u32],
    /// The place in the archive behind it.
    pub place: &'a str,
}

/// The text of a page, in a few numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextFeatures<'a> {
    /// The digest of its main text (C3).
    pub main: u64,
    /// Hashes of its words and blocks of text, without what differs on every page of a kind: by them one tells whether
    /// it says anything new (H10).
    pub features: &'a [u32],
}

/// How a visit ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VisitResult<'a> {
    /// The page came; the first half of the digest of its content.
    Content([u8; 16]),
    /// It came in part, or cannot be decoded: that says nothing about changes.
    Incomplete,
    /// It did not change.
    NotModified,
    /// It is somewhere else.
    Moved {
        /// The status.
        status: u16,
        /// Where to, if that is a page.
        target: Option<&'a PageUrl>,
    },
    /// It does not exist.
    Gone(u16),
    /// The server answered with another error.
    Failed {
        /// The status.
        status: u16,
        /// How long it asks to be left alone.
        retry_after: Option<Interval>,
    },
    /// Nobody answered.
    Unreachable {
        /// Whether a retry soon after may succeed.
        may_pass: bool,
    },
    /// It was not asked for.
    Refused(&'a Refusal),
    /// No request was sent: a proxy held it back, or this machine could not do its part.
    NotSent,
}

/// When a page is to be visited again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextVisit {
    /// At once.
    AtOnce,
    /// After this, within the run: the visit failed with something that may pass.
    Soon(Interval),
    /// After this.
    After(Interval),
    /// As its server's requests are divided.
    ByPlan,
}

/// Plays one capture.
pub(crate) fn learn(
    state: &mut State,
    lesson: &Lesson<'_>,
    policy: &RevisitPolicy,
    pace: &mut Pace,
    seed: u64,
) -> NextVisit {
    if lesson.result == VisitResult::NotSent {
        return NextVisit::After(Interval::from_seconds(state.wait));
    }
    let (at, micros) = (lesson.at, lesson.at.as_micros());
    state.last_visit = micros;
    (state.outcome, state.status) = ended(&lesson.result);
    if let VisitResult::Moved { target: Some(target), .. } = &lesson.result
        && moves_within(state, target, lesson.url)
    {
        state.next_due = minute(at);
        return NextVisit::AtOnce;
    }
    state.asked = 0;
    match &lesson.result {
        VisitResult::Failed { status, retry_after } => failed(state, http::may_pass(*status), *retry_after),
        VisitResult::Unreachable { may_pass } => failed(state, *may_pass, None),
        VisitResult::Refused(refusal) => NextVisit::After(refused(state, refusal)),
        _ => answered(state, lesson, policy, pace, seed),
    }
}

/// A redirect to the page's own key moves the page to the target's form (D6), but not for ever (H4).
fn moves_within(state: &mut State, target: &PageUrl, asked: &PageUrl) -> bool {
    let is_own = target.key() == asked.key() && target.as_str() != asked.as_str();
    if !is_own || usize::from(state.own_moves) >= REDIRECTS_MAX {
        return false;
    }
    state.url = target.as_str().to_owned();
    state.own_moves += 1;
    true
}

fn ended(told: &VisitResult<'_>) -> (LastOutcome, u16) {
    match told {
        VisitResult::Content(_) => (LastOutcome::Fetched, 200),
        VisitResult::Incomplete => (LastOutcome::Cut, 200),
        VisitResult::NotModified => (LastOutcome::NotModified, 304),
        VisitResult::Moved { status, .. } => (LastOutcome::Moved, *status),
        VisitResult::Gone(status) => (LastOutcome::Gone, *status),
        VisitResult::Failed { status, .. } => (LastOutcome::Failed, *status),
        VisitResult::Unreachable { .. } | VisitResult::NotSent => (LastOutcome::Unreachable, 0),
        VisitResult::Refused(refusal) => (why(refusal), 0),
    }
}
fn why(refusal: &Refusal) -> LastOutcome {
    match refusal.kind() {
        RefusalKind::Robots => LastOutcome::Robots,
        RefusalKind::RobotsUnreachable => LastOutcome::RobotsUnreachable,
        RefusalKind::Address => LastOutcome::Address,
        RefusalKind::OptOut => LastOutcome::OptOut,
        RefusalKind::NoContact => LastOutcome::NoContact,
        RefusalKind::Proxy => LastOutcome::Proxy,
    }
}

fn failed(state: &mut State, may_pass: bool, asked: Option<Interval>) -> NextVisit {
    state.failures = state.failures.saturating_add(1);
    if may_pass && state.failures <= RETRIES_MAX {
        let times = i32::try_from(state.failures).unwrap_or(1) - 1;
        let wait =
            asked.unwrap_or_else(|| RETRY_SOON.times(f64::from(RETRY_GROWTH.pow(times.unsigned_abs()))));
        if wait <= RETRY_SOON_MAX {
            state.wait = wait.as_seconds().max(1);
            return NextVisit::Soon(wait);
        }
    }
    let times = if may_pass { state.failures.saturating_sub(RETRIES_MAX) } else { state.failures };
    let wait = doubled(RETRY_FIRST, times).min(RETRY_MAX).max(asked.unwrap_or(Interval::ZERO)).min(RETRY_MAX);
    state.wait = wait.as_seconds();
    NextVisit::After(wait)
}
fn refused(state: &mut State, refusal: &Refusal) -> Interval {
    state.failures = state.failures.saturating_add(1);
    match refusal {
        Refusal::RobotsUnreachable => doubled(RETRY_FIRST, state.failures).min(REFUSED_FIRST),
        Refusal::OptOut(_) => REFUSED_MAX,
        _ => doubled(REFUSED_FIRST, state.failures).min(REFUSED_MAX),
    }
}
fn doubled(first: Interval, times: u32) -> Interval {
    first.times(f64::from(1_u32 << times.saturating_sub(1).min(16)))
}

fn answered(
    state: &mut State,
    lesson: &Lesson<'_>,
    policy: &RevisitPolicy,
    pace: &mut Pace,
    seed: u64,
) -> NextVisit {
    let micros = lesson.at.as_micros();
    let version = version_of(&lesson.result);
    if !matches!(lesson.result, VisitResult::Moved { .. }) {
        state.own_moves = 0;
    }
    state.failures = 0;
    state.dropped = false;
    lesson.filtered.clone_into(&mut state.filtered);
    if lesson.result == VisitResult::Incomplete && state.wait > 0 {
        return NextVisit::After(Interval::from_seconds(state.wait));
    }
    let is_new_version = version.is_some_and(|version| version != state.version);
    let is_beside = is_new_version && is_beside(state, lesson);
    state.side_changes = state.side_changes.saturating_add(u32::from(is_beside));
    let is_changed = is_new_version && !is_beside;
    let is_told_of = state.heard > 0 && state.heard <= seconds(lesson.at);
    if state.visits > 0 && is_told_of {
        // A feed or a sitemap speaks of this page: was it right?
        let last = Timestamp::from_micros(state.last_answer).map_or(0, seconds);
        if state.hinted > last {
            pace.trust.heard(is_changed);
        } else if is_changed {
            pace.trust.missed();
        }
    }
    pace.tick(seconds(lesson.at));
    if let (Some(modified), 1..) = (lesson.last_modified.and_then(Timestamp::parse_http_date), state.visits) {
        let says_so = modified.as_micros() > state.last_answer;
        pace.modified.heard(says_so == is_changed);
    }
    if state.visits > 0 {
        let gap = u64::try_from(micros - state.last_answer).unwrap_or(0) / 1_000_000;
        if state.belief.shape <= 0.0 {
            // From before beliefs were kept.
            state.belief = pace.recall(&state.history());
        }
        state.count(gap, is_changed);
        policy.estimator.learn(&mut state.belief, pace, Interval::from_seconds(gap), is_changed);
    } else {
        policy.estimator.begin(&mut state.belief, pace);
    }
    state.visits = state.visits.saturating_add(1);
    state.last_answer = micros;
    let was_gone = state.is_gone();
    if let Some(version) = version {
        state.version = version;
        state.moved_to = moved_to(&lesson.result);
        lesson.etag.unwrap_or_default().clone_into(&mut state.etag);
        lesson.last_modified.unwrap_or_default().clone_into(&mut state.last_modified);
    }
    if let Some(text) = &lesson.text {
        state.main = text.main;
    }
    if let (1, Some(age)) = (state.visits, state.history().age) {
        state.belief.hear(age, pace.modified.of_hint());
    }
    let key = chance::hash_bytes(seed, lesson.url.key().as_str().as_bytes());
    let mut chance = Chance::of(&[seed, key, state.visits.into()]);
    let before = (policy.has_budget() && state.interval > 0).then(|| Interval::from_seconds(state.interval));
    let own = policy.estimator.own_interval(&state.belief, &state.history(), before, &mut chance);
    if !policy.has_budget() {
        let own = if policy.allocation == Allocation::Printed { within(state, own) } else { own };
        state.interval = own.as_seconds().max(1);
        return NextVisit::ByPlan;
    }
    // Changes that are announced need no visits that look for them.
    let silence = if is_told_of { pace.trust.of_silence() } else { 1.0 };
    state.interval = own.times(1.0 / silence).as_seconds().max(1);
    if state.role == Role::Requisite && !state.is_gone() {
        return NextVisit::After(requisite_wait(state, policy, own, is_changed));
    }
    if state.is_gone() {
        // What is dead takes nothing from the budget of the living, and is looked for ever more rarely.
        let wait = if was_gone { Interval::from_seconds(state.wait).times(2.0) } else { GONE_INTERVAL_MIN };
        return NextVisit::After(wait.clamp(GONE_INTERVAL_MIN, REVISIT_INTERVAL_MAX));
    }
    NextVisit::ByPlan
}

/// How long something that pages show waits. It takes nothing from the budget of pages: unchanged, it is looked at ever more
/// rarely, since most pictures and style sheets never change under their names.
fn requisite_wait(state: &State, policy: &RevisitPolicy, own: Interval, is_changed: bool) -> Interval {
    let least = REQUISITE_INTERVAL_MIN.max(policy.every);
    let wait = match state.visits {
        0 | 1 => least,
        _ if is_changed => own.max(REQUISITE_INTERVAL_MIN),
        _ => Interval::from_seconds(state.wait).times(2.0).max(least),
    };
    wait.clamp(REQUISITE_INTERVAL_MIN, REVISIT_INTERVAL_MAX)
}

/// Whether only what surrounds the main text changed: adverts, notices, session ids in links. That is a version of the
/// page, and no reason to look at it more often (C3).
fn is_beside(state: &State, lesson: &Lesson<'_>) -> bool {
    let was_content = matches!(state.version, Version::Content(_));
    was_content && lesson.text.is_some_and(|text| text.main == state.main && text.main != 0)
}

impl State {
    fn count(&mut self, gap: u64, is_changed: bool) {
        self.elapsed += gap;
        self.last_gap = gap;
        if is_changed {
            self.changes = self.changes.saturating_add(1);
            let is_shortest = self.change_min == 0 || gap < self.change_min;
            self.change_min = if is_shortest { gap } else { self.change_min };
        } else {
            self.unchanged += gap;
        }
    }
}

/// Where a page was sent; empty if it was not.
fn moved_to(told: &VisitResult<'_>) -> String {
    match told {
        VisitResult::Moved { target: Some(target), .. } => target.as_str().to_owned(),
        _ => String::new(),
    }
}
/// What the page is now; nothing when the answer does not say.
fn version_of(told: &VisitResult<'_>) -> Option<Version> {
    match told {
        VisitResult::Content(digest) => Some(Version::Content(*digest)),
        VisitResult::Moved { status, target } => {
            // By its key: a page that is sent to and fro between two forms of itself does not change by that.
            let to = target.map(PageUrl::key);
            let to = to.as_ref().map_or("", |to| to.as_str());
            Some(Version::Moved(chance::hash_bytes(u64::from(*status), to.as_bytes())))
        }
        VisitResult::Gone(_) => Some(Version::Gone),
        _ => None,
    }
}

/// The interval within what its role and its state allow.
pub(crate) fn within(state: &State, interval: Interval) -> Interval {
    let interval = match state.role {
        Role::Feed | Role::News => interval.min(NEWS_INTERVAL_MAX),
        Role::Sitemap => interval.min(SITEMAP_INTERVAL_MAX),
        Role::Requisite => interval.max(REQUISITE_INTERVAL_MIN),
        Role::Page => interval,
    };
    let least = match state {
        state if state.is_gone() => GONE_INTERVAL_MIN,
        state if !state.filtered.is_empty() => FILTERED_INTERVAL_MIN,
        _ => Interval::ZERO,
    };
    interval.max(least)
}

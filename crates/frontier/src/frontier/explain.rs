//! Explains when and why a page is visited, or why never (O2, D17).

use super::Frontier;
use super::select::refusal;
use crate::Role;
use crate::error::Result;
use crate::held_back::HoldReason;
use crate::load;
use crate::loaded_page::{LoadedPage, split_key};
use crate::moment::{at_seconds, moment, seconds};
use crate::report::Explanation;
use crate::revisit::co_change::BurstReport;
use crate::scope::ScopeVerdict;
use crate::selection::Selection;
use crate::servers::ServerId;
use crate::state::{LastOutcome, State};
use crate::workbench::PageLocation;
use base::{Interval, PageUrl, Timestamp};
use robots::Need;
use sat::{Minute, Number};

/// With fewer observed intervals than this, or if a page was watched for less time than the estimate, the estimate is
/// called a guess.
const INTERVALS_FEW: u32 = 4;

impl Frontier {
    /// A page's life so far, its next visit and why, or why never.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn explain(&mut self, url: &PageUrl, now: Timestamp) -> Result<Explanation> {
        let proper = self.by_proper_name(url, &url.key());
        let url = proper.as_ref().unwrap_or(url);
        let key = url.key();
        let server = self.servers.of_url(url);
        let mut told = Explanation {
            url: url.as_str().to_owned(),
            key: key.as_str().to_owned(),
            server: url.server().as_str().to_owned(),
            address: server.and_then(|server| self.servers[server].kept.address),
            state: "unknown",
            policy: self.budget.policy().to_string(),
            ..Explanation::default()
        };
        match self.store.get(key.as_str().as_bytes())? {
            None => told.reason = self.if_added(url, server, now),
            Some(record) => {
                let state = State::read(&record.value).unwrap_or_default();
                self.explain_state(&mut told, &state, (record.number, record.due), server, now)?;
            }
        }
        Ok(told)
    }
    /// What would happen to an unknown URL.
    fn if_added(&mut self, url: &PageUrl, server: Option<ServerId>, now: Timestamp) -> String {
        let is_offered = |loaded: &LoadedPage| loaded.key() == url.key().as_str().as_bytes();
        if self.intake.offered().iter().any(is_offered) {
            return "it was found just now and is about to be added".to_owned();
        }
        if let Some(removal) = self.intake.removal(url.key().as_str()) {
            return format!("it is not known, and {}", removed(removal.at, &removal.selection));
        }
        if let Some(never) = self.why_never(url, Role::Page, server, now) {
            return format!("it is not known, and would not be visited: {never}");
        }
        "it is not known; if added, it would be visited after the delay of its server".to_owned()
    }
    /// Why a URL is never visited.
    fn why_never(
        &mut self,
        url: &PageUrl,
        role: Role,
        server: Option<ServerId>,
        now: Timestamp,
    ) -> Option<String> {
        if self.intake.is_excluded(url.key().as_str()) {
            return Some("it was taken down".to_owned());
        }
        if let ScopeVerdict::Leave(rule) = self.judge_scope(url, role) {
            return Some(rule);
        }
        if let Some(line) = self.settings.opt_out.refuses(url) {
            return Some(format!("the opt-out list says so, {line}"));
        }
        let standing = self.robots.known(server?, url.scheme())?;
        match standing.needs(now) {
            Need::Known(rules) => {
                let refusal = refusal(&rules, url)?;
                let base::Refusal::Robots(line) = refusal else { return None };
                Some(format!("the robots file of its server says `{line}`"))
            }
            Need::Unreachable(until) => Some(format!(
                "the robots file of its server cannot be fetched; it is requested again at {until}"
            )),
            Need::Ask(_) => None,
        }
    }

    fn explain_state(
        &mut self,
        told: &mut Explanation,
        state: &State,
        (number, due): (Number, Minute),
        server: Option<ServerId>,
        now: Timestamp,
    ) -> Result<()> {
        state.url.clone_into(&mut told.url);
        told.role = state.role;
        told.first_seen = Some(state.first_seen());
        told.found_on = self.url_of(state.found_on)?;
        (told.visits, told.changes) = (state.visits, state.changes);
        told.elapsed = Interval::from_seconds(state.elapsed);
        told.unchanged_sum = Interval::from_seconds(state.unchanged);
        told.side_changes = state.side_changes;
        told.estimate = self.budget.policy().estimator.estimate(&state.belief, &state.history());
        told.interval = (state.wait > 0).then(|| Interval::from_seconds(state.wait));
        told.last_visit = (!state.is_new()).then(|| Timestamp::from_micros(state.last_visit)).flatten();
        told.next_due = (state.removed == 0).then(|| moment(state.next_due));
        told.hint = hint(state);
        told.last_outcome = (!state.is_new()).then(|| last_outcome(state));
        told.state = word(state);
        let queued = matches!(
            self.workbench.location(number),
            Some(PageLocation::Queued(..) | PageLocation::Visiting(..) | PageLocation::Retrying(..))
        );
        told.queued_for = told.next_due.map(|_| if queued { now } else { moment(due) });
        told.limited_by = server.and_then(|server| self.limit(server, state, (number, due), now));
        told.budget_share = server.and_then(|server| self.share(server, state));
        if state.removed > 0 {
            (told.reason, told.limited_by) = (self.why_removed(state), None);
            return Ok(());
        }
        let never =
            PageUrl::parse(&state.url).ok().and_then(|url| self.why_never(&url, state.role, server, now));
        let average = server.map(|server| self.average(server));
        let why = |told: &Explanation| {
            let early = self.why_early(server, state);
            reason(state, told, average) + &early + &self.why_slow(server)
        };
        told.reason = never.unwrap_or_else(|| why(told));
        Ok(())
    }
    /// When and by which order a page was removed.
    fn why_removed(&self, state: &State) -> String {
        let key = PageUrl::parse(&state.url).map(|url| (Selection::page(&url), url.key()));
        let by = key.ok().map(|(page, key)| {
            let removal = self.intake.removal(key.as_str()).filter(|removal| removal.at == state.removed);
            removal.map_or(page, |removal| removal.selection.clone())
        });
        by.map(|by| removed(state.removed, &by)).unwrap_or_default()
    }
    /// Why it may be visited before its time.
    fn why_early(&self, server: Option<ServerId>, state: &State) -> String {
        let Some(server) = server.map(|server| &self.servers[server]) else { return String::new() };
        let last = Timestamp::from_micros(state.last_visit).map_or(0, seconds);
        if state.visits > 0 && state.hinted > last {
            let chance = server.kept.pace.trust.of_hint() * 100.0;
            return format!(
                "; a feed or a sitemap says that it changed, and such hints were right in {chance:.0} of 100 cases here"
            );
        }
        match server.co_change.told(state.event, &split_key_of(state).1, last) {
            Some(BurstReport { chance, kind, trigger, tries, hits }) if state.visits > 0 => format!(
                "; one of the {} {} lately, and {hits} of {tries} visited since had changed, so it has with a chance of {:.0} % and may be visited earlier",
                kind.words(),
                trigger.words(),
                chance * 100.0
            ),
            _ => String::new(),
        }
    }
    /// Why its server is asked more slowly than configured.
    fn why_slow(&self, server: Option<ServerId>) -> String {
        let server = server.map(|server| &self.servers[server]);
        match server.and_then(|server| Some((server, server.kept.slow.status()?))) {
            Some((server, status)) => {
                format!("; its server answered {status}, so it is asked once in {} at most", server.delay())
            }
            None => String::new(),
        }
    }
    fn url_of(&mut self, number: Option<Number>) -> Result<Option<String>> {
        let Some(number) = number else { return Ok(None) };
        let record = self.store.get_number(number)?;
        Ok(record.and_then(|record| State::read(&record.value)).map(|state| state.url))
    }
    /// The reason for which a page waits longer than its own estimate.
    fn limit(
        &self,
        server: ServerId,
        state: &State,
        page: (Number, Minute),
        now: Timestamp,
    ) -> Option<&'static str> {
        let kept = &self.servers[server];
        let (_, target) = split_key_of(state);
        if state.dropped || (kept.division.is_some() && page.1 > state.next_due) {
            return Some("overload");
        }
        match self.workbench.location(page.0) {
            Some(PageLocation::HeldBack(..)) => Some("trap"),
            Some(PageLocation::Retrying(..)) => Some("back-off"),
            Some(PageLocation::Queued(..)) if kept.kept.failures > 0 && kept.rests_until(now).is_some() => {
                Some("back-off")
            }
            Some(PageLocation::Queued(..)) => Some("pause"),
            _ if state.held.is_some() => Some("trap"),
            _ if page.1 > state.next_due
                && state.is_gone()
                && self.settings.spares_dead
                && kept.places.is_dead(&target) =>
            {
                Some("neighbourhood")
            }
            _ if page.1.0 > state.next_due.0 + 1 => Some("queue"),
            _ => None,
        }
    }
    /// The share of its server's requests that a page gets.
    fn share(&self, server: ServerId, state: &State) -> Option<f64> {
        state.load_interval(self.budget.policy())?;
        let all = self.outlook(server).requests;
        let own = if state.dropped { 0.0 } else { load::in_requests(load::Load::share(state.wait)) };
        (all > 0.0).then(|| (own / all).min(1.0))
    }
}

fn split_key_of(state: &State) -> (String, String) {
    let key = PageUrl::parse(&state.url).map(|url| url.key().as_str().to_owned()).unwrap_or_default();
    let (prefix, target) = split_key(&key);
    (prefix.to_owned(), target.to_owned())
}
fn hint(state: &State) -> Option<String> {
    if !state.last_modified.is_empty() {
        return Some(format!("Last-Modified: {}", state.last_modified));
    }
    let told = state.hinted.max(state.announced);
    (told > 0).then(|| format!("announced: {}", at_seconds(told)))
}
fn last_outcome(state: &State) -> String {
    match (state.outcome, state.status) {
        (LastOutcome::Moved, status) if !state.moved_to.is_empty() => {
            format!("{} ({status}) to {}", state.outcome.as_str(), state.moved_to)
        }
        (LastOutcome::Failed | LastOutcome::Moved | LastOutcome::Gone, status) => {
            format!("{} ({status})", state.outcome.as_str())
        }
        (outcome, _) => outcome.as_str().to_owned(),
    }
}
fn removed(at: u64, by: &Selection) -> String {
    let (at, by) = (at_seconds(at), by.arguments());
    format!("it was removed by `utsushi remove {by}` at {at}; `utsushi add` with its URL adds it again")
}
/// A state in one word.
fn word(state: &State) -> &'static str {
    match state.outcome {
        _ if state.removed > 0 => "removed",
        _ if state.is_new() => "new",
        _ if state.dropped => "dropped",
        outcome if outcome.is_refusal() => "refused",
        LastOutcome::Failed | LastOutcome::Unreachable => "failing",
        LastOutcome::Gone => "gone",
        LastOutcome::Moved => "moved",
        _ if state.is_gone() => "gone",
        _ => "live",
    }
}
/// The reason for the time of a page's next visit.
fn reason(state: &State, told: &Explanation, average: Option<Interval>) -> String {
    let interval = Interval::from_seconds(state.wait);
    let limited = match told.limited_by {
        Some("overload") if state.dropped => {
            return "it changes faster than its server can be asked, and was dropped so that other pages stay fresh".to_owned();
        }
        Some("overload") => "; its server's requests are divided among its pages, so it waits longer",
        Some("neighbourhood") => "; its neighbours are gone too, so it waits longer",
        Some("queue") => "; its server has more to do than fits into a day, so it waits longer",
        Some("trap") => return why_held(state),
        Some("pause") => "; it waits for its turn on its server",
        Some("back-off") => "; its server failed and is not visited for a while",
        _ => "",
    };
    let why = match word(state) {
        _ if state.asked > 0 => {
            "its visit was asked for and comes before all others of its server".to_owned()
        }
        "new" => "it was never visited".to_owned(),
        "failing" => {
            format!("it failed {} times in a row and is tried again after {interval}", state.failures)
        }
        "refused" => format!("it was {} and is judged again after {interval}", state.outcome.as_str()),
        "gone" => format!("it is gone, and checked again after {interval}"),
        _ if !state.filtered.is_empty() => {
            format!("the filter rejects it ({}), so it is visited rarely, after {interval}", state.filtered)
        }
        _ if state.role == Role::Requisite => {
            format!(
                "other pages need it to be shown; such files are visited rarely, this one after {interval}"
            )
        }
        _ => why_interval(state, told, interval, average),
    };
    let moved = if state.moved_to.is_empty() {
        String::new()
    } else {
        format!("; it redirects to {}", state.moved_to)
    };
    format!("{why}{moved}{limited}")
}
fn why_held(state: &State) -> String {
    let why = state.held.map_or("pages like it have brought nothing new recently", HoldReason::sentence);
    format!(
        "it was never visited; it is held back because {why}; a few such pages are visited every day, and if one brings something new, the others follow; `utsushi add` visits it in any case"
    )
}
/// What was observed, what follows for how often the page changes, and what interval the policy gives it.
fn why_interval(state: &State, told: &Explanation, interval: Interval, average: Option<Interval>) -> String {
    let by_budget = !told.policy.starts_with("paper") && told.policy != "fixed";
    let seen = state.visits.saturating_sub(1);
    match (told.estimate, seen) {
        (Some(estimate), _) => {
            let observed = why_estimate(estimate, state, seen);
            let average = average.filter(|_| by_budget);
            let chosen = average.map_or_else(String::new, |average| why_share(interval, average));
            format!("{observed}; it is visited every {interval}{chosen}")
        }
        (None, 0) if state.history().age.is_some() => {
            format!("it was visited once, and states that it had not changed for {interval}")
        }
        (None, 0) => format!("it was visited once, and the second visit comes after a random {interval}"),
        _ if state.changes > 0 => {
            format!("every visit so far showed a change, so the interval was halved to {interval}")
        }
        _ => format!("no visit so far showed a change, so the interval grew to {interval}"),
    }
}
/// How often a page changes, and how reliable that is.
fn why_estimate(estimate: Interval, state: &State, seen: u32) -> String {
    let (changes, watched) = (state.changes, Interval::from_seconds(state.elapsed));
    let guess = format!("that it changes about every {estimate} is a guess from other pages");
    match seen {
        0 => format!("it was visited once, so {guess}"),
        _ if seen < INTERVALS_FEW || watched < estimate => format!(
            "{changes} of {seen} intervals showed a change within {watched}, which is little evidence, so {guess}"
        ),
        _ => format!("{changes} of {seen} intervals showed a change, so it changes about every {estimate}"),
    }
}
/// Why the interval of a page differs from the average of its server.
fn why_share(interval: Interval, average: Interval) -> String {
    let ratio = interval.as_seconds_f64() / average.as_seconds_f64().max(1.0);
    let than = match ratio {
        ..0.8 => "more often, because it is expected to change more often than they do",
        0.8..1.25 => "like them",
        _ => "less often, because it is expected to change less often than they do",
    };
    format!(
        ": the budget gives the pages of its server one visit every {average} on average, and this one {than}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(visits: u32, changes: u32, (estimate, interval, average): (u64, u64, u64)) -> String {
        let state = State { visits, changes, wait: interval, elapsed: 864_000, ..State::default() };
        let estimate = Some(Interval::from_seconds(estimate));
        let told = Explanation { estimate, policy: "co-change/root".to_owned(), ..Explanation::default() };
        let (interval, average) = (Interval::from_seconds(interval), Interval::from_seconds(average));
        why_interval(&state, &told, interval, Some(average))
    }

    #[test]
    fn an_estimate_from_few_intervals_is_called_a_guess_and_the_interval_has_a_reason() {
        let few = why(2, 1, (507_600, 148, 480));
        assert_eq!(
            few,
            "1 of 1 intervals showed a change within 10d, which is little evidence, so that it changes about every 5d21h is \
             a guess from other pages; it is visited every 2m28s: the budget gives the pages of its server one visit every \
             8m on average, and this one more often, because it is expected to change more often than they do"
        );
        let slow = why(11, 1, (8_640_000, 148, 480));
        assert!(slow.contains("is a guess"), "watched for less time than the estimate: {slow}");
        let many = why(11, 5, (86_400, 2_592_000, 604_800));
        assert!(
            many.starts_with("5 of 10 intervals showed a change, so it changes about every 1d; "),
            "{many}"
        );
        assert!(many.ends_with("one visit every 7d on average, and this one less often, because it is expected to change less often than they do"), "{many}");
    }
}

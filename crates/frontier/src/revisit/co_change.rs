//! Pages that change together.
//!
//! Sites are built: a new template, a price list, a release touches many pages at once. What a visit finds says little of the
//! whole server, but much of the pages that belong with the page ([`GroupKind`]). So a change, a deletion or a birth ([`Trigger`])
//! opens a *burst* to each group of its page. A member that was last visited before the burst began is as likely to have changed
//! as those that were visited since: the chance begins as what such bursts were worth on this server, and rises or falls with
//! every visit. The best member goes before the schedule while its expected gain is some times that of the page that is next by
//! schedule, and while early visits have not used up their part of the budget.
//!
//! Deletions are changes like others here: a suspected neighbourhood is sampled, then visited out or left alone (C16).
//!
//! **Invariant:** a burst never changes when a page is due. It makes visits earlier, out of the same budget.
//!
//! **Invariant:** worths, bursts and cohorts follow from the visits in their order, whoever asked for them. Only the place of
//! the next candidate does not.

mod group;
mod worth;

pub use group::GroupKind;
pub use worth::Trigger;

use crate::codec::{Fields, put};
use base::Interval;
use base::chance::hash_bytes;
use group::{GroupId, Groups, Note, cohort, groups_of};
use worth::{SIZES, TRIES_COUNTED, Worths, size_class};

/// The numbers that decide when a page is visited early.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tuning {
    /// How many times the gain of the next page by schedule an early visit must be expected to have, because a page that is
    /// visited early was to be visited anyway.
    pub advantage: f64,
    /// The share of the budget that early visits may take.
    pub early_max: f64,
    /// The weight, in visits, of what earlier bursts were worth.
    pub weight: f64,
    /// A burst ends after this time.
    pub lasts: Interval,
}

impl Default for Tuning {
    fn default() -> Self {
        Self { advantage: 1.5, early_max: 0.3, weight: 1.3, lasts: Interval::from_days(30) }
    }
}

/// A burst ends when its chance falls to this after some tries.
const CHANCE_MIN: f64 = 0.02;
const TRIES_MIN: u32 = 20;
/// So many bursts are under way on one server: beyond it the least likely ends.
const BURSTS_MAX: usize = 128;
/// A change that was likelier than this is a habit of the page.
const HABIT: f64 = 0.5;
/// Over about so many visits by schedule their gain is averaged.
const TYPICAL_VISITS: f64 = 64.0;
/// What is found in the first day of a server's life is not born, but only found.
const INFANCY: u64 = 86_400;

/// The groups of a server's pages, and the bursts under way.
#[derive(Debug, Default)]
pub struct CoChange {
    tuning: Tuning,
    groups: Groups,
    bursts: Vec<Burst>,
    worths: Worths,
    /// When its first page was visited, in seconds.
    begun: u64,
    is_changed: bool,
    /// What visits by schedule gained of late, in seconds.
    typical: Option<f64>,
}

#[derive(Clone, Debug, PartialEq)]
struct Burst {
    group: GroupId,
    kind: GroupKind,
    trigger: Trigger,
    /// When it was seen what it began with, in seconds, and a name for that.
    begun: u64,
    event: u32,
    hits: u32,
    tries: u32,
    /// The chance with which it began.
    worth: f64,
    /// The class of its group by size.
    size: usize,
    /// The next members, the first of them last, and the one that was passed last.
    next: Vec<u32>,
    passed: Option<(u32, u32)>,
    is_done: bool,
}

/// What a visit found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageFinding {
    /// The same as before.
    Unchanged,
    /// Something new.
    Changed,
    /// That the page is gone.
    Gone,
}

/// A page that may have changed because others did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The page.
    pub page: u32,
    /// How likely it has changed.
    pub chance: f64,
    /// For how many seconds a visit now is expected to make it fresh.
    pub gain: f64,
    /// When others were seen to have changed, in seconds: a visit since then has taken care of the page.
    pub since: u64,
    burst: GroupId,
}

/// What a burst says of a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BurstReport {
    /// How likely the page has changed.
    pub chance: f64,
    /// Which pages it is about, and what opened it.
    pub kind: GroupKind,
    /// What opened it.
    pub trigger: Trigger,
    /// How many pages were visited since, and how many of them had changed.
    pub tries: u32,
    /// How many had changed.
    pub hits: u32,
}

/// For how many seconds a visit makes a page fresh that changes once in `own` and is visited again after `wait`, if it has
/// changed. What changes always is not kept fresh by a visit.
#[must_use]
pub fn keeps(own: Interval, wait: Interval) -> f64 {
    let own = own.as_seconds_f64().max(1.0);
    own * -(-wait.as_seconds_f64() / own).exp_m1()
}

impl CoChange {
    /// With other numbers than the usual ones.
    #[must_use]
    pub fn new(tuning: Tuning) -> Self {
        Self { tuning, ..Self::default() }
    }
    /// Takes a page in that was last visited at `last`, in seconds; `event` is what [`Self::visited`] told last.
    pub fn join(&mut self, page: u32, target: &str, last: u64, event: u32) {
        let note = Note { page, last: short(last), keeps: 0.0, event };
        self.groups.join(note, target);
    }
    /// A page, which has joined, was visited for the first time at `now`; it was first heard of at `found`.
    pub fn met(&mut self, page: u32, target: &str, found: u64, now: u64) {
        self.is_changed |= self.begun == 0;
        self.begun = if self.begun == 0 { now } else { self.begun };
        self.note(page, now);
        if found > self.begun + INFANCY {
            self.retire(now);
            let event = event_of(target, now);
            for (kind, group) in groups_of(target).into_iter().flatten() {
                self.open(kind, group, Trigger::Birth, now, event);
            }
        }
    }
    /// A page, which has joined, was visited again at `now`; it was last visited at `before`. Tells the event that it belongs to from now on.
    #[expect(clippy::too_many_arguments, reason = "one visit: which page, when, what it found")]
    pub fn visited(
        &mut self,
        page: u32,
        target: &str,
        before: u64,
        now: u64,
        finding: PageFinding,
        expected: f64,
    ) -> u32 {
        self.note(page, now);
        self.retire(now);
        let former = self.groups.note(page).map_or(0, |note| note.event);
        let of_page = groups_of(target).into_iter().chain([cohort(former)]).flatten();
        let groups: Vec<(GroupKind, GroupId)> =
            of_page.filter(|(_, group)| self.groups.members(*group) > 1).collect();
        let found_in = self.count(&groups, before, finding != PageFinding::Unchanged);
        let trigger = match finding {
            PageFinding::Unchanged => return former,
            PageFinding::Changed if expected > HABIT => Trigger::Habit,
            PageFinding::Changed => Trigger::Change,
            PageFinding::Gone => Trigger::Deletion,
        };
        let event = found_in.unwrap_or_else(|| event_of(target, now));
        for (kind, group) in groups {
            if !self.bursts.iter().any(|burst| burst.group == group && before < burst.begun) {
                self.open(kind, group, trigger, now, event);
            }
        }
        if finding == PageFinding::Changed {
            self.groups.regroup(page, event);
        }
        self.groups.note(page).map_or(0, |note| note.event)
    }
    /// A page is visited again after `wait`; it changes once in `own`. One without is not visited early.
    pub fn planned(&mut self, page: u32, plan: Option<(Interval, Interval)>) {
        if let Some(note) = self.groups.note_mut(page) {
            #[expect(clippy::cast_possible_truncation, reason = "seven digits are enough")]
            let seconds = plan.map_or(0.0, |(own, wait)| keeps(own, wait) as f32);
            note.keeps = seconds;
        }
    }
    fn note(&mut self, page: u32, now: u64) {
        if let Some(note) = self.groups.note_mut(page) {
            note.last = short(now);
        }
    }
    /// Counts a visit for the bursts that it was in. Tells the event of the likeliest, if the page had changed.
    fn count(&mut self, groups: &[(GroupKind, GroupId)], before: u64, is_hit: bool) -> Option<u32> {
        let mut best: Option<(f64, u32)> = None;
        for burst in &mut self.bursts {
            if before >= burst.begun || !groups.iter().any(|(_, group)| *group == burst.group) {
                continue;
            }
            let chance = burst.chance(&self.tuning);
            if best.is_none_or(|(most, _)| chance > most) {
                best = Some((chance, burst.event));
            }
            if burst.tries < TRIES_COUNTED {
                self.worths.learn(burst.kind, burst.trigger, burst.size, is_hit);
            }
            burst.tries += 1;
            burst.hits += u32::from(is_hit);
            self.is_changed = true;
        }
        best.filter(|_| is_hit).map(|(_, event)| event)
    }
    fn open(&mut self, kind: GroupKind, group: GroupId, trigger: Trigger, now: u64, event: u32) {
        let members = self.groups.members(group);
        if members < 2 {
            return;
        }
        let size = size_class(members);
        let worth = self.worths.of(kind, trigger, size);
        let begun = Burst { size, ..Burst::opened(group, (kind, trigger), now, event, worth) };
        let known = self.bursts.iter_mut().find(|burst| burst.group == group);
        match known {
            // A birth says less than a change does: it does not end what a change began.
            Some(burst) if trigger == Trigger::Birth && burst.chance(&self.tuning) > worth => return,
            // It changed again since the burst began: so may the others.
            Some(burst) => *burst = begun,
            None => self.bursts.push(begun),
        }
        self.is_changed = true;
        if self.bursts.len() > BURSTS_MAX {
            let chances = self.bursts.iter().map(|burst| burst.chance(&self.tuning)).enumerate();
            let least = chances.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(at, _)| at);
            self.bursts.remove(least);
        }
    }
    /// Ends bursts that found nothing or lasted long.
    fn retire(&mut self, now: u64) {
        let tuning = self.tuning;
        let before = self.bursts.len();
        self.bursts.retain(|burst| {
            let is_over = now.saturating_sub(burst.begun) > tuning.lasts.as_seconds()
                || (burst.tries >= TRIES_MIN && burst.chance(&tuning) < CHANCE_MIN);
            !is_over
        });
        self.is_changed |= self.bursts.len() < before;
    }

    /// The page with the greatest expected gain, if that is great enough beside visits by schedule, and early visits have not
    /// taken too great a share of the budget. The `next` visit by schedule would gain so much.
    pub fn best(&mut self, now: u64, next: f64, early_share: f64) -> Option<Candidate> {
        if self.bursts.is_empty() || early_share >= self.tuning.early_max {
            return None;
        }
        let mut best: Option<Candidate> = None;
        for burst in &mut self.bursts {
            if now.saturating_sub(burst.begun) > self.tuning.lasts.as_seconds() {
                continue;
            }
            let Some(place) = burst.first(&self.groups) else { continue };
            let (note, chance) = (self.groups.at(place), burst.chance(&self.tuning));
            let gain = chance * f64::from(note.keeps);
            if best.is_none_or(|best| gain > best.gain) {
                let (page, since) = (note.page, burst.begun);
                best = Some(Candidate { page, chance, gain, since, burst: burst.group });
            }
        }
        best.filter(|best| best.gain > self.tuning.advantage * self.typical_gain(next))
    }
    /// A page was visited by schedule that a visit was expected to make fresh for so many seconds.
    pub fn scheduled(&mut self, gain: f64) {
        let typical = self.typical.get_or_insert(gain);
        *typical += (gain - *typical) / TYPICAL_VISITS;
    }
    /// What visits by schedule gained of late; before the first, what the next would gain. Later that would say less: it stays
    /// next, whatever goes before it.
    #[must_use]
    pub fn typical_gain(&self, next: f64) -> f64 {
        self.typical.unwrap_or(next)
    }
    /// The page of a candidate is being visited, or need not be: its burst goes on to the next.
    pub fn pass(&mut self, candidate: &Candidate) {
        if let Some(burst) = self.bursts.iter_mut().find(|burst| burst.group == candidate.burst)
            && let Some(place) = burst.next.pop()
        {
            burst.passed = Some((self.groups.at(place).last, place));
        }
    }
    /// What the likeliest burst says of a page with this event.
    #[must_use]
    pub fn told(&self, event: u32, target: &str, last_visit: u64) -> Option<BurstReport> {
        let groups = groups_of(target).into_iter().chain([cohort(event)]).flatten();
        let groups: Vec<GroupId> = groups.map(|(_, group)| group).collect();
        let bursts = self.bursts.iter();
        let bursts = bursts.filter(|burst| groups.contains(&burst.group) && last_visit < burst.begun);
        let best = bursts.max_by(|a, b| a.chance(&self.tuning).total_cmp(&b.chance(&self.tuning)))?;
        let Burst { kind, trigger, hits, tries, .. } = *best;
        Some(BurstReport { chance: best.chance(&self.tuning), kind, trigger, tries, hits })
    }
    pub(crate) fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.is_changed)
    }
    /// What a later run goes on with. Which pages are in which groups is learned from their states.
    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        put(bytes, self.begun);
        self.worths.write(bytes);
        put(bytes, self.bursts.len() as u64);
        for burst in &self.bursts {
            bytes.extend_from_slice(&burst.group.0.to_le_bytes());
            let size = u8::try_from(burst.size).unwrap_or(0);
            bytes.extend_from_slice(&[burst.kind as u8, burst.trigger as u8, size]);
            bytes.extend_from_slice(&burst.event.to_le_bytes());
            bytes.extend_from_slice(&burst.worth.to_le_bytes());
            [burst.begun, burst.hits.into(), burst.tries.into()]
                .iter()
                .for_each(|number| put(bytes, *number));
        }
    }
    pub(crate) fn read(fields: &mut Fields<'_>) -> Self {
        let (begun, worths) = (fields.number(), Worths::read(fields));
        let count = usize::try_from(fields.number()).unwrap_or(0).min(BURSTS_MAX);
        let bursts = (0..count).filter_map(|_| Burst::read(fields)).collect();
        Self { begun, worths, bursts, ..Self::default() }
    }
    /// Whether a burst is under way that somebody may be left of.
    #[must_use]
    pub fn is_out(&self) -> bool {
        self.bursts.iter().any(|burst| !burst.is_done)
    }
}

impl Burst {
    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let group = GroupId(u32::from_le_bytes(fields.array()));
        let [kind, trigger, size] = fields.array();
        let event = u32::from_le_bytes(fields.array());
        let worth = f64::from_le_bytes(fields.array());
        let (begun, hits, tries) = (fields.number(), fields.small(u32::MAX), fields.small(u32::MAX));
        let (kind, trigger) =
            (GroupKind::ALL.get(usize::from(kind))?, Trigger::ALL.get(usize::from(trigger))?);
        let worth = if worth.is_finite() { worth.clamp(0.0, 1.0) } else { 0.0 };
        let opened = Self::opened(group, (*kind, *trigger), begun, event, worth);
        Some(Self { size: usize::from(size).min(SIZES - 1), hits, tries, ..opened })
    }
    fn opened(
        group: GroupId,
        (kind, trigger): (GroupKind, Trigger),
        begun: u64,
        event: u32,
        worth: f64,
    ) -> Self {
        Self {
            group,
            kind,
            trigger,
            begun,
            event,
            hits: 0,
            tries: 0,
            worth,
            size: 0,
            next: Vec::new(),
            passed: None,
            is_done: false,
        }
    }
    fn chance(&self, tuning: &Tuning) -> f64 {
        (self.worth * tuning.weight + f64::from(self.hits)) / (tuning.weight + f64::from(self.tries))
    }
    /// The next member that was not visited since the burst began.
    fn first(&mut self, groups: &Groups) -> Option<u32> {
        loop {
            while let Some(place) = self.next.last().copied() {
                let note = groups.at(place);
                if note.last < short(self.begun) && note.keeps > 0.0 {
                    return Some(place);
                }
                self.next.pop();
            }
            if self.is_done {
                return None;
            }
            self.next = groups.oldest(self.group, short(self.begun), self.passed);
            self.is_done = self.next.is_empty();
        }
    }
}

/// A name for what was seen at a moment: the same when it is learned again.
#[expect(clippy::cast_possible_truncation, reason = "a few that are taken for one do no harm")]
fn event_of(target: &str, now: u64) -> u32 {
    (hash_bytes(now, target.as_bytes()) as u32).max(1)
}
/// A moment in few bytes; it lasts until 2106.
fn short(seconds: u64) -> u32 {
    u32::try_from(seconds).unwrap_or(u32::MAX)
}

/// A set of pages by number, a bit each.
#[derive(Debug, Default)]
pub(crate) struct MemberSet {
    bits: Vec<u64>,
    count: u64,
}

impl MemberSet {
    /// Adds a page. Returns whether it is new.
    pub(crate) fn add(&mut self, page: u32) -> bool {
        let (word, bit) = (page as usize / 64, 1_u64 << (page % 64));
        if self.bits.len() <= word {
            self.bits.resize(word + 1, 0);
        }
        let is_new = self.bits[word] & bit == 0;
        self.bits[word] |= bit;
        self.count += u64::from(is_new);
        is_new
    }
    /// How many pages there are.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: u64 = 86_400;

    fn target(page: u32) -> String {
        let directory = if page < 100 { "s/a" } else { "t/b" };
        format!("/{directory}/{}.html", page % 100)
    }
    /// Ten pages in each of two directories, visited a second after each other, and planned.
    fn co_change() -> CoChange {
        let mut co_change = CoChange::default();
        for page in (0..10).chain(100..110) {
            co_change.join(page, &target(page), 100 - u64::from(page % 100), 0);
            co_change.planned(page, Some((Interval::from_days(50), Interval::from_days(30))));
        }
        co_change.begun = 1;
        co_change
    }
    fn visit(co_change: &mut CoChange, page: u32, at: u64, finding: PageFinding) {
        co_change.visited(page, &target(page), 50, at, finding, 0.1);
    }
    fn candidates(co_change: &mut CoChange, now: u64, share: f64) -> Vec<u32> {
        let mut seen = Vec::new();
        while let Some(candidate) = co_change.best(now, 0.0, share) {
            seen.push(candidate.page);
            co_change.pass(&candidate);
        }
        seen
    }

    #[test]
    fn a_change_leads_to_the_pages_beside_it_the_longest_unvisited_first() {
        let mut co_change = co_change();
        assert_eq!(co_change.best(DAY, 0.0, 0.0), None);
        visit(&mut co_change, 3, DAY, PageFinding::Changed);
        let first = co_change.best(DAY, 0.0, 0.0).unwrap();
        assert!((0.15..0.25).contains(&first.chance) && first.since == DAY, "{first:?}");
        // The page of the same name elsewhere did not change, that of the directory did.
        visit(&mut co_change, 103, DAY + 1, PageFinding::Unchanged);
        visit(&mut co_change, 4, DAY + 2, PageFinding::Changed);
        let next = co_change.best(DAY + 3, 0.0, 0.0).unwrap();
        assert!(next.chance > 0.5, "{next:?}");
        let seen = candidates(&mut co_change, DAY + 4, 0.0);
        assert_eq!(seen[..8], [9, 8, 7, 6, 5, 2, 1, 0]);
    }

    #[test]
    fn deletions_and_births_open_bursts_and_what_finds_nothing_ends() {
        for finding in [PageFinding::Gone, PageFinding::Changed] {
            let mut co_change = co_change();
            visit(&mut co_change, 3, DAY, finding);
            assert!(co_change.best(DAY, 0.0, 0.0).is_some(), "{finding:?}");
            assert_eq!(co_change.best(DAY + 31 * DAY, 0.0, 0.0), None, "it does not last for ever");
        }
        let mut co_change = co_change();
        co_change.join(11, &target(11), DAY, 0);
        co_change.met(11, &target(11), 2, DAY);
        assert_eq!(co_change.best(DAY, 0.0, 0.0), None, "found in the first day");
        co_change.join(12, &target(12), 3 * DAY, 0);
        co_change.met(12, &target(12), 2 * DAY, 3 * DAY);
        let told = co_change.told(0, &target(5), 50).unwrap();
        assert_eq!((told.trigger, told.tries), (Trigger::Birth, 0));
        for round in 0..40 {
            visit(&mut co_change, round % 10, 3 * DAY + 1, PageFinding::Unchanged);
        }
        assert_eq!(co_change.best(3 * DAY + 2, 0.0, 0.0), None);
    }

    #[test]
    fn early_visits_take_their_part_and_must_gain_more_than_the_schedule() {
        let mut co_change = co_change();
        visit(&mut co_change, 3, DAY, PageFinding::Changed);
        assert_eq!(co_change.best(DAY, 0.0, 0.31), None, "the budget has room for others");
        for page in (0..10).chain([103]) {
            co_change.planned(page, Some((Interval::from_minutes(5), Interval::from_days(30))));
        }
        let best = co_change.best(DAY, 0.0, 0.0).unwrap();
        assert!(best.gain < 100.0, "what always changes is not made fresh: {best:?}");
        co_change.scheduled(1e7);
        assert_eq!(co_change.best(DAY, 0.0, 0.0), None);
    }

    #[test]
    fn what_changed_together_is_a_cohort() {
        let mut co_change = co_change();
        visit(&mut co_change, 3, DAY, PageFinding::Changed);
        let found = co_change.visited(4, &target(4), 50, DAY + 1, PageFinding::Changed, 0.1);
        let alone = co_change.visited(105, &target(105), 50, DAY + 2, PageFinding::Changed, 0.1);
        assert_eq!(co_change.groups.note(3).map(|note| note.event), Some(found));
        assert_ne!(alone, found, "nothing beside it had changed");
        // A month later one of the cohort changes again.
        co_change.visited(4, &target(4), DAY + 1, 60 * DAY, PageFinding::Changed, 0.1);
        let told = co_change.told(found, "/elsewhere/x.html", DAY).unwrap();
        assert_eq!((told.kind, told.trigger), (GroupKind::Cohort, Trigger::Change));
    }

    #[test]
    fn what_was_learned_is_read_as_it_was_written() {
        let mut co_change = co_change();
        visit(&mut co_change, 3, DAY, PageFinding::Changed);
        visit(&mut co_change, 4, DAY + 2, PageFinding::Gone);
        let mut bytes = Vec::new();
        co_change.write(&mut bytes);
        let read = CoChange::read(&mut Fields(&bytes));
        assert_eq!((&read.bursts, &read.worths, read.begun), (&co_change.bursts, &co_change.worths, 1));
        for cut in 0..bytes.len() {
            let _ = CoChange::read(&mut Fields(&bytes[..cut]));
        }
        assert!(CoChange::read(&mut Fields(&[])).bursts.is_empty());
    }
}

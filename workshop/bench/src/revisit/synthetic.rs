//! Made traces with what the recorded ones lack: deletions, directories that vanish, whole-site rebuilds, births that say
//! nothing of other pages, and pages that live for days and change within the hour.
//!
//! Every trace is a pure function of its name. A site is put together from sections, each in directories of its own.

use super::replay::number;
use super::trace::{Event, Trace};
use base::Chance;
use base::chance::hash_bytes;

/// 2022-01-01, in seconds since 1970.
const BEGIN: f64 = 1_640_995_200.0;
const DAY: f64 = 86_400.0;
/// How long the pages of one commit take to appear on a site, in days: ten minutes.
const PUBLISHING: f64 = 600.0 / DAY;
const PAGES_PER_DIRECTORY: usize = 30;

/// Every made trace.
pub(crate) fn all() -> Vec<Trace> {
    vec![deletions(), vanishing(), rebuilds(), births(), microblog(), mixed()]
}

/// A documentation site that loses pages: about a tenth of what is stale under uniform visits is stale because it is gone.
/// Most deletions are of single pages at random, the rest of a handful beside each other.
fn deletions() -> Trace {
    let mut site = Site::new("deletions", 3.0);
    let mut pages = site.manual("docs", 3_600);
    site.delete(&mut pages, 1.7, 0.07);
    site.trace()
}

/// A site of campaigns: a directory appears whole, hardly changes, and vanishes whole after one or two years.
fn vanishing() -> Trace {
    let mut site = Site::new("vanishing", 3.0);
    site.manual("about", 600);
    site.campaigns("campaign", 45, 450.0);
    site.trace()
}

/// A site whose generator writes every page again every three to ten days; hardly a page changes between.
fn rebuilds() -> Trace {
    let mut site = Site::new("rebuilds", 2.0);
    site.generated("site", 7_700);
    site.trace()
}

/// A site that grows all the time: a new page says nothing of those that lie beside it, which change by themselves, each
/// at a rate of its own.
fn births() -> Trace {
    let mut site = Site::new("births", 3.0);
    site.growing("notes", 2_000, 5.0);
    site.trace()
}

/// A microblog: rankings that change within minutes or hours, people at rates of their own, and posts that are born daily,
/// change less with every day, and are deleted after weeks.
fn microblog() -> Trace {
    let mut site = Site::new("microblog", 2.0);
    site.rankings("ranking", 30);
    site.growing("people", 500, 0.2);
    site.posts("posts", 6.0, 60.0);
    site.trace()
}

/// All of these in different directories of one site.
fn mixed() -> Trace {
    let mut site = Site::new("mixed", 2.0);
    let mut pages = site.manual("docs", 1_200);
    site.delete(&mut pages, 0.6, 0.07);
    site.campaigns("campaign", 20, 300.0);
    site.generated("reference", 1_500);
    site.growing("notes", 500, 1.0);
    site.rankings("ranking", 6);
    site.posts("posts", 1.5, 45.0);
    site.trace()
}

/// A site while it is put together; time in days since it began.
struct Site {
    name: &'static str,
    days: f64,
    chance: Chance,
    paths: Vec<String>,
    events: Vec<(f64, u32, Event)>,
}

impl Site {
    fn new(name: &'static str, years: f64) -> Self {
        let chance = Chance::new(hash_bytes(19, name.as_bytes()));
        Self { name, days: years * 365.25, chance, paths: Vec::new(), events: Vec::new() }
    }
    fn trace(self) -> Trace {
        let seconds = |days: f64| BEGIN + (days * DAY).floor();
        let events = self.events.into_iter().map(|(at, page, event)| (seconds(at), page, event)).collect();
        Trace::of(self.name, (BEGIN, seconds(self.days)), self.paths, events)
    }

    /// Pages that people write: most commits change one page, some change pages of one directory together.
    fn manual(&mut self, top: &str, count: usize) -> Vec<u32> {
        let pages: Vec<u32> = (0..count).map(|place| self.page(&in_directory(top, place), -1.0)).collect();
        for page in &pages {
            let rate = self.rate(60.0, 3_000.0);
            self.change_at(*page, rate, 0.0, self.days);
        }
        for directory in pages.chunks(PAGES_PER_DIRECTORY) {
            for at in self.moments(1.0 / 250.0, 0.0, self.days) {
                for page in directory {
                    if self.chance.happens(0.6) {
                        self.publish(at, *page, Event::Changed);
                    }
                }
            }
        }
        pages
    }
    /// Deletes pages so many times a day, and adds as many: single ones, or with a probability 3 to 10 beside each other.
    fn delete(&mut self, pages: &mut [u32], per_day: f64, in_groups: f64) {
        for at in self.moments(per_day, 0.0, self.days) {
            let size = if self.chance.happens(in_groups) { 3 + self.chance.index(8) } else { 1 };
            let first = self.chance.index(pages.len() - size);
            for page in &mut pages[first..first + size] {
                // Nothing happens to it any more.
                self.events.retain(|event| event.1 != *page || event.0 < at);
                self.events.push((at, *page, Event::Vanished));
                *page = self.replacement(*page, at);
            }
        }
    }
    /// A page beside one that is gone.
    fn replacement(&mut self, gone: u32, at: f64) -> u32 {
        let beside = self.paths[gone as usize].rsplit_once('/').map_or("", |(directory, _)| directory);
        let path = format!("{beside}/new-{}.html", self.paths.len());
        let page = self.page(&path, at);
        let rate = self.rate(60.0, 3_000.0);
        self.change_at(page, rate, at, self.days);
        page
    }

    /// Directories of 20 to 60 pages that appear and vanish whole; as many at any time, which live so many days on average.
    fn campaigns(&mut self, top: &str, count: usize, days: f64) {
        for place in 0..count {
            let (mut at, mut round) = (-1.0, 0);
            while at < self.days {
                let life = if at < 0.0 { days * self.chance.unit() * 2.0 } else { self.waiting(days) };
                let until = at.max(0.0) + life.max(10.0);
                self.campaign(&format!("{top}/{place:02}-{round}"), at, until);
                (at, round) = (until + self.waiting(5.0), round + 1);
            }
        }
    }
    fn campaign(&mut self, directory: &str, from: f64, until: f64) {
        for place in 0..20 + self.chance.index(41) {
            let page = self.page(&format!("{directory}/page-{place:02}.html"), from);
            let rate = self.rate(100.0, 2_000.0);
            self.change_at(page, rate, from.max(0.0), until.min(self.days));
            self.publish(until, page, Event::Vanished);
        }
    }

    /// Pages that a generator writes again, all at once, every 3 to 10 days.
    fn generated(&mut self, top: &str, count: usize) {
        let pages: Vec<u32> = (0..count).map(|place| self.page(&in_directory(top, place), -1.0)).collect();
        let mut at = 7.0 * self.chance.unit();
        while at < self.days {
            for page in &pages {
                self.publish(at, *page, Event::Changed);
            }
            at += 3.0 + 7.0 * self.chance.unit();
        }
        for at in self.moments(1.0, 0.0, self.days) {
            let page = *self.chance.pick(&pages);
            self.events.push((at, page, Event::Changed));
        }
    }

    /// Pages of independent rates, and new ones of the same kind in the same directories, so many a day.
    fn growing(&mut self, top: &str, count: usize, per_day: f64) {
        let births = self.moments(per_day, 0.0, self.days);
        let begins = std::iter::repeat_n(-1.0, count);
        for (place, born) in begins.chain(births).enumerate() {
            let directory = self.chance.index(1 + count / PAGES_PER_DIRECTORY);
            let page = self.page(&format!("{top}/{directory:02}/note-{place:04}.html"), born);
            let rate = self.rate(3.0, 3_000.0);
            self.change_at(page, rate, born.max(0.0), self.days);
        }
    }

    /// Pages that change every 20 minutes to 12 hours.
    fn rankings(&mut self, top: &str, count: usize) {
        for place in 0..count {
            let page = self.page(&format!("{top}/{place:02}.html"), -1.0);
            let rate = self.rate(20.0 / 1_440.0, 0.5);
            self.change_at(page, rate, 0.0, self.days);
        }
    }
    /// Posts, so many a day, that live so many days on average. One changes twice on its first day, and less and less.
    fn posts(&mut self, top: &str, per_day: f64, days: f64) {
        // Born before the window, so that as many live when it begins as later.
        for (place, born) in self.moments(per_day, -5.0 * days, self.days).into_iter().enumerate() {
            let until = born + self.waiting(days).max(0.1);
            if until <= 0.0 {
                continue;
            }
            let month = (born.max(0.0) / 30.0).floor();
            let page = self.page(&format!("{top}/{month:02}/post-{place:05}.html"), born);
            let mut at = born;
            while at < until.min(self.days) {
                at += self.waiting((1.0 + at - born) / 2.0);
                if at > 0.0 && at < until {
                    self.events.push((at, page, Event::Changed));
                }
            }
            self.events.push((until, page, Event::Vanished));
        }
    }

    fn page(&mut self, path: &str, born: f64) -> u32 {
        let page = number(self.paths.len());
        self.paths.push(path.to_owned());
        self.events.push((born, page, Event::Appeared));
        page
    }
    /// Something of a commit: it takes a while until all of its pages are there.
    fn publish(&mut self, at: f64, page: u32, event: Event) {
        let at = at + PUBLISHING * self.chance.unit();
        self.events.push((at, page, event));
    }
    fn change_at(&mut self, page: u32, rate: f64, from: f64, until: f64) {
        let moments = self.moments(rate, from, until);
        self.events.extend(moments.into_iter().map(|at| (at, page, Event::Changed)));
    }

    /// A rate a day, whose mean interval lies between two numbers of days, evenly by order of magnitude.
    fn rate(&mut self, shortest: f64, longest: f64) -> f64 {
        1.0 / (shortest * (longest / shortest).powf(self.chance.unit()))
    }
    /// A time that is so long on average and has no memory.
    fn waiting(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.chance.unit()).ln()
    }
    /// Moments of a Poisson process.
    fn moments(&mut self, rate: f64, from: f64, until: f64) -> Vec<f64> {
        let mut at = from;
        let mut next = || {
            at += self.waiting(1.0 / rate);
            (at < until).then_some(at)
        };
        std::iter::from_fn(&mut next).collect()
    }
}

fn in_directory(top: &str, place: usize) -> String {
    format!("{top}/{:03}/page-{place:04}.html", place / PAGES_PER_DIRECTORY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    /// The part of what is stale that deletions make, when every page is visited so often at a moment of its own.
    fn share_of_deletions(trace: &Trace, every_days: f64) -> f64 {
        let mut last: Vec<f64> = vec![f64::MIN; trace.paths.len()];
        let (mut all, mut deletions, every) = (0.0, 0.0, every_days * DAY);
        for (at, page, event) in &trace.events {
            // What happens is the first that the next visit shows if the last visit was after the event before; then
            // it is stale until the next one.
            let unseen = (at - std::mem::replace(&mut last[*page as usize], *at)).min(every);
            let stale = unseen - unseen * unseen / (2.0 * every);
            if *event != Event::Appeared {
                all += stale;
                deletions += if *event == Event::Vanished { stale } else { 0.0 };
            }
        }
        deletions / all
    }
    fn count(trace: &Trace, of: Event) -> usize {
        trace.events.iter().filter(|(_, _, event)| *event == of).count()
    }
    fn directory(trace: &Trace, page: u32) -> &str {
        trace.paths[page as usize].rsplit_once('/').map_or("", |(directory, _)| directory)
    }
    fn top(trace: &Trace, page: u32) -> &str {
        trace.paths[page as usize].split('/').next().unwrap_or_default()
    }
    /// The pages of a part that changed within the same hour, for each such hour.
    fn changed_together(trace: &Trace, part: &str) -> Vec<BTreeSet<u32>> {
        let mut together: Vec<(f64, BTreeSet<u32>)> = Vec::new();
        for (at, page, event) in &trace.events {
            if *event == Event::Changed && top(trace, *page) == part {
                match together.last_mut() {
                    Some((since, pages)) if at - *since < 3_600.0 => drop(pages.insert(*page)),
                    _ => together.push((*at, BTreeSet::from([*page]))),
                }
            }
        }
        together.into_iter().map(|(_, pages)| pages).collect()
    }
    #[expect(clippy::cast_precision_loss, reason = "events of a trace")]
    fn part(of: usize, all: usize) -> f64 {
        of as f64 / all as f64
    }

    #[test]
    fn every_trace_is_of_two_to_four_years_and_its_events_make_sense() {
        let traces = all();
        assert_eq!(traces.len(), 6);
        for trace in &traces {
            let years = (trace.to - trace.from) / (365.25 * DAY);
            assert!((2.0..=4.0).contains(&(years + 1e-3)), "{}: {years}", trace.name);
            assert!((1_000..=8_500).contains(&trace.paths.len()), "{}: {}", trace.name, trace.paths.len());
            let mut exists = trace.begins.clone();
            for (at, page, event) in &trace.events {
                let was = std::mem::replace(&mut exists[*page as usize], *event != Event::Vanished);
                let path = &trace.paths[*page as usize];
                assert_eq!(was, *event != Event::Appeared, "{} {path}: {event:?} at {at}", trace.name);
            }
            let paths: BTreeSet<&String> = trace.paths.iter().collect();
            assert_eq!(paths.len(), trace.paths.len(), "{}: a path is one page", trace.name);
        }
        let events = |trace: &Trace| trace.events.clone();
        assert_eq!(events(&traces[0]), events(&deletions()), "the same each time");
    }

    #[test]
    fn a_tenth_of_what_is_stale_is_deleted() {
        let trace = deletions();
        for (every_days, expected) in [(7.0, 0.08..0.12), (30.0, 0.08..0.12), (100.0, 0.08..0.13)] {
            let share = share_of_deletions(&trace, every_days);
            assert!(expected.contains(&share), "every {every_days} days: {share}");
        }
        let singly: BTreeSet<u64> = trace
            .events
            .iter()
            .filter(|(_, _, event)| *event == Event::Vanished)
            .map(|(at, ..)| at.to_bits())
            .collect();
        let (moments, gone) = (singly.len(), count(&trace, Event::Vanished));
        assert!(moments < gone && part(moments, gone) > 0.6, "{moments} moments of {gone} deletions");
    }

    #[test]
    fn directories_vanish_whole() {
        let trace = vanishing();
        let mut gone: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for (at, page, _) in trace.events.iter().filter(|(_, _, event)| *event == Event::Vanished) {
            gone.entry(directory(&trace, *page)).or_default().push(*at);
        }
        assert!(gone.len() > 60, "{}", gone.len());
        for (directory, times) in &gone {
            let pages = trace.paths.iter().filter(|path| path.starts_with(&format!("{directory}/"))).count();
            assert_eq!(times.len(), pages, "{directory}: every page of it is gone");
            let took = times.iter().copied().fold(f64::MIN, f64::max) - times[0];
            assert!(took <= 600.0, "{directory}: {took} s");
        }
    }

    #[test]
    fn a_generator_changes_every_page_every_few_days() {
        let trace = rebuilds();
        assert_eq!(trace.paths.len(), 7_700);
        let mut rebuilds = 0;
        let mut of_rebuilds = 0;
        for pages in changed_together(&trace, "site") {
            if pages.len() > 7_000 {
                rebuilds += 1;
                of_rebuilds += pages.len();
            }
        }
        assert!((90..=140).contains(&rebuilds), "{rebuilds} in two years");
        let others = trace.events.len() - of_rebuilds;
        assert!(part(others, trace.events.len()) < 0.02, "{others} changes apart from {rebuilds} rebuilds");
    }

    #[test]
    fn new_pages_say_nothing_of_those_beside_them() {
        let trace = births();
        assert!(
            (4_500..6_500).contains(&count(&trace, Event::Appeared)),
            "{}",
            count(&trace, Event::Appeared)
        );
        // How many changes fall into the day after a birth in the directory, beside how many fall into any day.
        let mut born: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        let (mut after, mut before) = (0, 0);
        for (at, page, event) in &trace.events {
            if *event == Event::Appeared {
                born.entry(directory(&trace, *page)).or_default().push(*at);
            }
        }
        for (at, page, event) in &trace.events {
            let births = born.get(directory(&trace, *page)).map_or(&[][..], Vec::as_slice);
            if *event == Event::Changed {
                after += births.iter().filter(|birth| (0.0..DAY).contains(&(at - **birth))).count();
                before += births.iter().filter(|birth| (0.0..DAY).contains(&(**birth - at))).count();
            }
        }
        assert!((0.93..1.07).contains(&part(after, before)), "{after} after, {before} before");
    }

    #[test]
    fn a_microblog_is_of_short_lives_and_fast_pages() {
        let trace = microblog();
        let (mut born, mut lives) = (BTreeMap::new(), Vec::new());
        let mut changes = vec![0_u32; trace.paths.len()];
        for (at, page, event) in &trace.events {
            match event {
                Event::Appeared => drop(born.insert(*page, *at)),
                Event::Vanished => lives.extend(born.get(page).map(|born| (at - born) / DAY)),
                Event::Changed => changes[*page as usize] += 1,
            }
        }
        lives.sort_by(f64::total_cmp);
        let median = lives[lives.len() / 2];
        assert!(
            lives.len() > 3_000 && (25.0..60.0).contains(&median),
            "{} lives, {median} days",
            lives.len()
        );
        let fast = changes.iter().filter(|changes| **changes >= 2 * 730).count();
        assert!((28..=32).contains(&fast), "{fast} change twice a day or more");
        assert!(share_of_deletions(&trace, 7.0) > 0.05, "{}", share_of_deletions(&trace, 7.0));
    }

    #[test]
    fn a_mixed_site_has_all_of_it() {
        let trace = mixed();
        let tops: BTreeSet<&str> = (0..number(trace.paths.len())).map(|page| top(&trace, page)).collect();
        let expected = ["campaign", "docs", "notes", "posts", "ranking", "reference"];
        assert_eq!(tops.into_iter().collect::<Vec<_>>(), expected);
        let together = changed_together(&trace, "reference");
        assert!(together.iter().filter(|pages| pages.len() > 1_400).count() > 90);
    }
}

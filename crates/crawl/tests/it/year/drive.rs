//! The plain loop that drives a frontier over a simulated web: no sockets, no tasks, no waiting.
//!
//! What politeness wants to know of an answer is told at once, on this thread. The body is made, digested and read on a
//! second one, and learned [`LEARNED_AFTER`] later in simulated time, in the order in which visits ended. So the same seed
//! gives the same run, however fast the threads are.

use super::reader::{AGENT, Read, Reader};
use super::starve::Starvation;
use base::chance::{self, hash_bytes};
use base::clock::{Clock as _, CrawlClock, SimulatedClock, Start, Watch};
use base::disk::RealDisk;
use base::door::{Cause, Exchange, Failure, Found as Address, Phase, Request};
use base::{Interval, Outcome, PageUrl, Timestamp};
use fetch::robots::{self, Answer};
use frontier::{
    Done, Found, Frontier, Lesson, Mode, Next, Paper, Scope, Settings, Step, Task, Text, Told, Worth,
};
use sim::observe::{Coming, Going, Observer, Report, Rules};
use sim::{Begun, ORIGIN, Plan, SimulatedDoor, Web};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

/// How long after its end a visit is learned: so long a batch of the archive takes at most.
const LEARNED_AFTER: Interval = Interval::from_seconds(20);
/// So many visits wait for being learned, at most.
const LESSONS_MAX: usize = 4_000;
/// How long a look-up is believed.
const LOOK_UP_LIFETIME: Interval = Interval::from_days(1);
/// A commit comes after so many lessons, or after some hours: a sync takes as long here as in real time.
const COMMIT_LESSONS: u32 = 512;
const COMMIT_AFTER: Interval = Interval::from_hours(6);
/// Offers are judged when they are many, or once in this time: judging them costs a pass over the store, so a large one
/// waits longer, as the running crawler does.
const SETTLE_AFTER: Interval = Interval::from_hours(12);
const SETTLE_AFTER_SMALL: Interval = Interval::from_minutes(10);
/// Up to so many pages a store is small.
const SMALL_PAGES: u64 = 20_000;

/// What is simulated.
#[derive(Clone, Debug)]
pub(super) struct Year {
    pub(super) plan: Plan,
    pub(super) days: u64,
    pub(super) pause: Interval,
    /// Nobody can be reached in these hours.
    pub(super) network_down: Option<(u64, u64)>,
    /// Nothing can be written in these hours.
    pub(super) disk_full: Option<(u64, u64)>,
}

/// The clocks of the simulated machine: true time, and a wall clock that somebody sets.
#[derive(Debug)]
pub(super) struct Machine {
    passed_micros: AtomicU64,
    wall_ahead_seconds: AtomicI64,
}

impl Machine {
    fn is_at(&self, now: Timestamp) {
        self.passed_micros.store(now.since(ORIGIN).as_micros(), Ordering::Relaxed);
    }
    /// Sets the wall clock so far ahead of true time, or behind it.
    pub(super) fn set_wall(&self, ahead_seconds: i64) {
        self.wall_ahead_seconds.store(ahead_seconds, Ordering::Relaxed);
    }
}

impl Watch for Machine {
    fn wall(&self) -> Timestamp {
        let true_time = ORIGIN.as_micros() + self.passed_micros.load(Ordering::Relaxed).cast_signed();
        let ahead = self.wall_ahead_seconds.load(Ordering::Relaxed) * 1_000_000;
        Timestamp::from_micros(true_time + ahead).expect("a moment of this age")
    }
    fn monotonic(&self) -> Duration {
        Duration::from_micros(self.passed_micros.load(Ordering::Relaxed))
    }
}

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct Outcomes {
    /// Every request in order, folded into one number.
    pub(super) trace: u64,
    /// Requests for pages.
    pub(super) visits: u64,
    /// Those that brought a page, which was made, digested and read.
    pub(super) bodies: u64,
    pub(super) unchanged: u64,
    pub(super) gone: u64,
    pub(super) failed: u64,
    pub(super) robots: u64,
    pub(super) politeness: Report,
    pub(super) starvation: Starvation,
    pub(super) pages_known: u64,
    /// Pages that were handed out while they were out already: two visits for one due time.
    pub(super) doubles: u64,
    /// Requests to hostile servers by kind, and how many of them came twice in a minute.
    pub(super) hostile: BTreeMap<&'static str, (u64, u64)>,
}

/// Something that ends at a moment.
struct Flight {
    task: Task,
    /// What was sent, and what came of it; nothing when the network was not needed.
    request: Option<(SocketAddr, Request)>,
    began: Timestamp,
    /// The same by the crawl's clock.
    at: Timestamp,
    result: Ended,
}

enum Ended {
    Address(Result<Address, Failure>),
    Robots(Outcome, Answer, Vec<Found>),
    Page(Box<Begun>, Outcome),
    Failed(Outcome),
    Refused,
}

/// A visit that the archive is taking in.
struct Pending {
    due: Timestamp,
    at: Timestamp,
    page: Option<frontier::Number>,
    url: PageUrl,
    outcome: Outcome,
    /// Whether the reader reads its page.
    is_read: bool,
}

pub(super) struct Driver {
    web: Arc<Web>,
    door: Arc<SimulatedDoor>,
    reader: Reader,
    frontier: Option<Frontier>,
    observer: Observer,
    year: Year,
    directory: PathBuf,
    pub(super) machine: Arc<Machine>,
    clock: Arc<CrawlClock>,
    /// True time, which the servers live by.
    pub(super) now: Timestamp,
    end: Timestamp,
    flights: BinaryHeap<Reverse<(Timestamp, u64)>>,
    in_flight: HashMap<u64, Flight>,
    lessons: VecDeque<Pending>,
    /// Pages between being handed out and being learned.
    out_pages: HashSet<u32>,
    sequence: u64,
    uncommitted: u32,
    committed: Timestamp,
    settled: Timestamp,
    pub(super) out: Outcomes,
}

impl Driver {
    pub(super) fn start(year: Year, directory: &Path) -> Self {
        let web = Arc::new(Web::new(year.plan.clone()));
        let door = Arc::new(SimulatedDoor::new(web.clone(), SimulatedClock::new(ORIGIN)));
        let rules = Rules { pause: year.pause, crawl_delay: true, double_window: Interval::from_minutes(1) };
        let machine =
            Arc::new(Machine { passed_micros: AtomicU64::new(0), wall_ahead_seconds: AtomicI64::new(0) });
        let (clock, _) = CrawlClock::watching(machine.clone(), None, 1);
        let mut driver = Self {
            reader: Reader::start(door.clone()),
            observer: Observer::new(web.clone(), rules),
            end: ORIGIN.plus(Interval::from_days(year.days)),
            web,
            door,
            frontier: None,
            year,
            directory: directory.to_owned(),
            machine,
            clock,
            now: ORIGIN,
            flights: BinaryHeap::new(),
            in_flight: HashMap::new(),
            lessons: VecDeque::new(),
            out_pages: HashSet::new(),
            sequence: 0,
            uncommitted: 0,
            committed: ORIGIN,
            settled: ORIGIN,
            out: Outcomes::default(),
        };
        driver.open();
        driver
    }

    fn open(&mut self) {
        let now = self.clock.now();
        let store =
            sat::Store::open(Arc::new(RealDisk), &self.directory, frontier::store_options(now)).unwrap();
        let scope = Scope::new(Mode::Any, Vec::new());
        let (seed, pause) = (self.year.plan.seed, self.year.pause);
        let settings = Settings { seed, pause, scope, ..Settings::default() };
        self.frontier = Some(Frontier::open(store, settings, Box::new(Paper::default()), now).unwrap());
    }
    /// Ends the crawl as a crash does, and starts it again with whatever the wall clock shows. What was in the archive
    /// is learned first, as a crawl does that catches up.
    pub(super) fn restart(&mut self) -> Start {
        while let Some(Reverse((at, number))) = self.flights.pop() {
            let flight = self.in_flight.remove(&number).expect("it took off");
            if let Some((to, request)) = &flight.request {
                let gone = Going { status: 0, retry_after: None, retry_at: None, at: at.min(self.now) };
                self.observer.went(&coming(*to, request, flight.began), &gone);
            }
        }
        self.learn(Timestamp::MAX);
        self.out_pages.clear();
        let mut frontier = self.frontier.take().expect("it runs");
        frontier.commit_durably(self.clock.now()).unwrap();
        drop(frontier);
        let store_options = frontier::store_options(self.clock.now());
        let store = sat::Store::open(Arc::new(RealDisk), &self.directory, store_options).unwrap();
        let latest = Frontier::latest(&store);
        drop(store);
        let (clock, start) = CrawlClock::watching(self.machine.clone(), latest, 1);
        self.clock = clock;
        self.open();
        start
    }
    pub(super) fn frontier(&mut self) -> &mut Frontier {
        self.frontier.as_mut().expect("it runs")
    }
    /// What the crawl's clock shows at a moment of true time, no earlier than the last.
    fn told(&self, at: Timestamp) -> Timestamp {
        self.machine.is_at(at);
        self.clock.now()
    }

    /// Adds the home pages of the first so many servers, and of the hostile ones.
    pub(super) fn seed(&mut self, servers: u32) {
        let plan = self.web.plan();
        let homes = (0..servers.min(plan.servers)).map(|number| self.web.page_url(number, 0, ORIGIN));
        let hostile = (0..plan.hostile).map(|number| format!("http://{}/", sim::hostile::host(number)));
        let seeds: Vec<Found> =
            homes.chain(hostile).map(|url| Found::page(PageUrl::parse(&url).unwrap())).collect();
        let now = self.told(self.now);
        self.frontier().add(&seeds, 0, now).unwrap();
        self.frontier().settle(now).unwrap();
    }

    /// Runs until the end, or until `until`.
    pub(super) fn run(&mut self, until: Timestamp) {
        let until = until.min(self.end);
        while self.now < until {
            self.land();
            self.learn(self.now);
            self.tend();
            let Some(at) = self.next() else { continue };
            let landing = self.flights.peek().map(|Reverse((at, _))| *at);
            let lesson = self.lessons.front().map(|lesson| lesson.due);
            let next = [Some(at), landing, lesson].into_iter().flatten().min().unwrap_or(until);
            assert!(next > self.now || landing == Some(next), "time stands still at {}", self.now);
            self.now = next.min(until);
        }
    }

    /// Takes what there is to do now; the moment to come back at when there is nothing.
    fn next(&mut self) -> Option<Timestamp> {
        if let Some(until) = self.until(self.year.disk_full) {
            // Whoever cannot write does not ask.
            return Some(until);
        }
        let told = self.told(self.now);
        match self.frontier().next(told).unwrap() {
            Next::Do(task) => {
                self.take_off(task, told);
                None
            }
            Next::Wait(at) => Some(self.now.plus(at.since(told).max(Interval::from_micros(1)))),
            Next::Idle => Some(self.end),
        }
    }
    /// The end of some hours, if it is in them.
    fn until(&self, hours: Option<(u64, u64)>) -> Option<Timestamp> {
        let (from, to) = hours?;
        let [from, to] = [from, to].map(|hour| ORIGIN.plus(Interval::from_hours(hour)));
        (self.now >= from && self.now < to).then_some(to)
    }

    fn take_off(&mut self, task: Task, told: Timestamp) {
        if let Step::Visit(page, ..) = &task.step {
            self.out.doubles += u64::from(!self.out_pages.insert(page.0));
        }
        let (took, request, result) = match &task.step {
            Step::LookUp(_, url, origin) => {
                let result = self.look_up(origin.server.host(), origin.server.port_for(url.scheme()));
                (Duration::from_millis(20), None, Ended::Address(result))
            }
            Step::Robots(to, request) => {
                let (took, outcome, exchange) = self.exchange(*to, request);
                let text = exchange.as_ref().and_then(robots::text);
                let answer = Answer::read(&outcome, text.as_deref(), AGENT);
                (took, Some((*to, request.clone())), Ended::Robots(outcome, answer, Vec::new()))
            }
            Step::Visit(_, to, request) => {
                let request = request.clone().with("Accept-Encoding", "identity");
                let (took, result) = self.visit(*to, &request);
                (took, Some((*to, request)), result)
            }
            Step::Refuse(..) => (Duration::ZERO, None, Ended::Refused),
        };
        if let Some((to, request)) = &request {
            let coming = coming(*to, request, self.now);
            self.observer.came(&coming);
        }
        let took = Interval::from_micros(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
        self.sequence += 1;
        self.flights.push(Reverse((self.now.plus(took), self.sequence)));
        self.in_flight.insert(self.sequence, Flight { task, request, began: self.now, at: told, result });
    }

    fn look_up(&self, host: &str, port: u16) -> Result<Address, Failure> {
        if self.until(self.year.network_down).is_some() {
            return Err(Failure::new(
                Phase::LookUp,
                Cause::TimeOut(Duration::from_secs(5)),
                Duration::from_secs(5),
            ));
        }
        let failure = || Failure::new(Phase::LookUp, Cause::NoSuchName, Duration::from_millis(20));
        let address = self.web.address(host).ok_or_else(failure)?;
        let addresses = vec![SocketAddr::new(IpAddr::V4(address), port)];
        Ok(Address { addresses, lifetime: LOOK_UP_LIFETIME })
    }
    fn begin(&self, to: SocketAddr, request: &Request) -> Result<Begun, Failure> {
        if self.until(self.year.network_down).is_some() {
            let waited = Duration::from_secs(10);
            return Err(Failure::new(Phase::Connect, Cause::TimeOut(waited), waited));
        }
        self.door.begin(to, request, self.now)
    }
    fn exchange(&self, to: SocketAddr, request: &Request) -> (Duration, Outcome, Option<Exchange>) {
        let result = self.begin(to, request).map(|begun| (begun.took, self.door.complete(begun, request)));
        match result {
            Ok((took, exchange)) => {
                let result = Ok(exchange);
                (took, fetch::outcome(&request.url, &result), result.ok())
            }
            Err(failure) => (failure.took, Outcome::Unreachable(failure), None),
        }
    }
    fn visit(&self, to: SocketAddr, request: &Request) -> (Duration, Ended) {
        match self.begin(to, request) {
            Ok(begun) => {
                let outcome = fetch::outcome(&request.url, &Ok(begun.without_body(request)));
                (begun.took, Ended::Page(Box::new(begun), outcome))
            }
            Err(failure) => (failure.took, Ended::Failed(Outcome::Unreachable(failure))),
        }
    }

    /// Everything that ends by now.
    fn land(&mut self) {
        while let Some(Reverse((at, number))) =
            self.flights.peek().copied().filter(|first| first.0.0 <= self.now)
        {
            self.flights.pop();
            let flight = self.in_flight.remove(&number).expect("it took off");
            self.end_of(flight, at);
        }
    }
    fn end_of(&mut self, flight: Flight, at: Timestamp) {
        let Flight { task, request, began, at: asked_at, result } = flight;
        if let Some((to, request)) = &request {
            self.note(*to, request, began, at, &result);
        }
        let (took, landed, at) = (at.since(began), at, self.told(at));
        let page = task.step.page();
        match result {
            Ended::Address(result) => {
                let outcome = result.as_ref().err().cloned().map(Outcome::Unreachable);
                let worth = self.frontier().done(&task, &Done::LookedUp(result), took, at).unwrap();
                if let (Worth::Keeping, Some(outcome), Step::LookUp(_, url, _)) = (worth, outcome, &task.step)
                {
                    self.keep(page, url.clone(), outcome, (asked_at, landed), None);
                }
            }
            Ended::Robots(outcome, answer, sitemaps) => {
                self.out.robots += 1;
                self.frontier().done(&task, &Done::Robots(&outcome, &answer), took, at).unwrap();
                self.frontier().found(&sitemaps, at).unwrap();
            }
            Ended::Page(begun, outcome) => {
                let bytes = if begun.has_body_to_make() { 8_000 } else { 0 };
                let worth = self.frontier().done(&task, &Done::Visited(&outcome, bytes), took, at).unwrap();
                let (_, request) = request.expect("a page was asked for");
                if worth == Worth::Nothing {
                    self.back(page);
                } else {
                    self.keep(
                        page,
                        request.url.clone(),
                        outcome,
                        (asked_at, landed),
                        Some((*begun, request)),
                    );
                }
            }
            Ended::Failed(outcome) => {
                let worth = self.frontier().done(&task, &Done::Visited(&outcome, 0), took, at).unwrap();
                let (_, request) = request.expect("a page was asked for");
                if worth == Worth::Nothing {
                    self.back(page);
                } else {
                    self.keep(page, request.url, outcome, (asked_at, landed), None);
                }
            }
            Ended::Refused => {
                self.frontier().done(&task, &Done::Refused, took, at).unwrap();
                if let Step::Refuse(_, url, refusal) = &task.step {
                    self.keep(page, url.clone(), Outcome::Refused(refusal.clone()), (asked_at, landed), None);
                }
            }
        }
    }
    /// A page is out no more.
    fn back(&mut self, page: Option<frontier::Number>) {
        if let Some(page) = page {
            self.out_pages.remove(&page.0);
        }
    }
    /// What the servers' side sees of the end of a request, and the trace.
    fn note(&mut self, to: SocketAddr, request: &Request, began: Timestamp, at: Timestamp, result: &Ended) {
        let outcome = match result {
            Ended::Robots(outcome, ..) | Ended::Page(_, outcome) | Ended::Failed(outcome) => outcome,
            Ended::Address(_) | Ended::Refused => return,
        };
        let (status, retry_after) = match outcome {
            Outcome::Fetched { status, .. } | Outcome::Gone { status } | Outcome::Moved { status, .. } => {
                (*status, None)
            }
            Outcome::NotModified => (304, None),
            Outcome::Failed { status, retry_after } => (*status, *retry_after),
            Outcome::Refused(_) | Outcome::Unreachable(_) => (0, None),
        };
        let going = Going { status, retry_after, retry_at: None, at };
        self.observer.went(&coming(to, request, began), &going);
        let url = hash_bytes(self.out.trace, request.url.as_str().as_bytes());
        self.out.trace = chance::hash(&[
            url,
            began.as_micros().unsigned_abs(),
            status.into(),
            at.since(began).as_micros(),
        ]);
        let out = &mut self.out;
        out.visits += u64::from(!matches!(result, Ended::Robots(..)));
        match outcome {
            Outcome::NotModified => out.unchanged += 1,
            Outcome::Gone { .. } => out.gone += 1,
            Outcome::Failed { .. } | Outcome::Unreachable(_) => out.failed += 1,
            _ => {}
        }
    }

    /// Hands a visit to the archive, which says later that it has it.
    fn keep(
        &mut self,
        page: Option<frontier::Number>,
        url: PageUrl,
        outcome: Outcome,
        (asked_at, landed): (Timestamp, Timestamp),
        answer: Option<(Begun, Request)>,
    ) {
        let is_page = matches!(outcome, Outcome::Fetched { .. });
        let mut pending =
            Pending { due: landed.plus(LEARNED_AFTER), at: asked_at, page, url, outcome, is_read: false };
        if let Some((begun, request)) = answer.filter(|_| is_page) {
            pending.is_read = true;
            self.reader.give(begun, request);
        }
        self.lessons.push_back(pending);
        if self.lessons.len() > LESSONS_MAX {
            let first = self.lessons.front().map_or(self.now, |lesson| lesson.due);
            self.learn(first);
        }
    }

    /// Learns what the archive has by `by`.
    fn learn(&mut self, by: Timestamp) {
        while self.lessons.front().is_some_and(|lesson| lesson.due <= by) {
            let pending = self.lessons.pop_front().expect("there is one");
            let read = if pending.is_read { self.reader.take() } else { Read::default() };
            let told = read.content.map_or_else(|| told(&pending.outcome), Told::Content);
            self.out.bodies += u64::from(pending.is_read);
            let text = read.reading.main.map(|main| Text { main, blocks: &read.reading.blocks });
            let lesson = Lesson {
                page: pending.page,
                url: &pending.url,
                at: pending.at,
                address: None,
                told,
                etag: read.etag.as_deref(),
                last_modified: read.last_modified.as_deref(),
                text,
                filtered: &read.reading.filtered,
                links: &read.reading.links,
                place: "",
            };
            self.frontier.as_mut().expect("it runs").learn(&lesson).unwrap();
            self.uncommitted += 1;
            self.back(pending.page);
        }
    }

    /// Commits and settles from time to time, and looks at who starves.
    fn tend(&mut self) {
        if self.until(self.year.disk_full).is_some() {
            return;
        }
        let told = self.told(self.now);
        let after = if self.frontier().pages() < SMALL_PAGES { SETTLE_AFTER_SMALL } else { SETTLE_AFTER };
        let settles = self.now.since(self.settled) >= after || self.frontier().should_settle();
        if settles && self.frontier().offered() > 0 {
            self.frontier().settle(told).unwrap();
            self.settled = self.now;
        }
        let is_old = self.uncommitted > 0 && self.now.since(self.committed) >= COMMIT_AFTER;
        if self.uncommitted >= COMMIT_LESSONS || is_old {
            self.frontier().commit(told).unwrap();
            (self.uncommitted, self.committed) = (0, self.now);
        }
        self.out.starvation.look(self.frontier.as_ref().expect("it runs"), told);
    }

    /// Ends the run.
    pub(super) fn end(mut self) -> (Outcomes, Frontier) {
        self.learn(Timestamp::MAX);
        self.out.politeness = self.observer.report();
        self.out.pages_known = self.frontier().pages();
        for number in 0..self.web.plan().hostile {
            let names = (0..sim::hostile::CROWD_NAMES).map(|member| sim::hostile::crowd_host(number, member));
            for host in names.chain([sim::hostile::host(number)]) {
                if let Some(counts) = self.observer.counts_of(&host) {
                    let of = self.out.hostile.entry(sim::hostile::kind(number).word()).or_default();
                    *of = (of.0 + counts.requests, of.1 + counts.doubles);
                }
            }
        }
        (self.out, self.frontier.take().expect("it runs"))
    }
}

fn coming(to: SocketAddr, request: &Request, at: Timestamp) -> Coming<'_> {
    let IpAddr::V4(address) = to.ip() else { panic!("the simulated web has no such address") };
    let url = &request.url;
    Coming { scheme: url.scheme(), host: url.host(), target: url.target(), address, at }
}

/// What an outcome without a page teaches.
fn told(outcome: &Outcome) -> Told<'_> {
    match outcome {
        Outcome::Fetched { .. } => Told::Cut,
        Outcome::NotModified => Told::Same,
        Outcome::Moved { status, target } => Told::Moved { status: *status, target: target.as_ref() },
        Outcome::Gone { status } => Told::Gone(*status),
        Outcome::Failed { status, retry_after } => {
            Told::Failed { status: *status, retry_after: *retry_after }
        }
        Outcome::Refused(refusal) => Told::Refused(refusal),
        Outcome::Unreachable(_) => Told::Unreachable,
    }
}

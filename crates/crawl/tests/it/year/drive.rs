//! The plain loop that drives a frontier over a simulated web: no sockets, no tasks, no waiting.
//!
//! What politeness needs from an answer is reported at once, on this thread. The body is made, digested and read on a
//! second one, and learned some minutes later in simulated time, in the order in which visits ended. So the same seed
//! gives the same run, however fast the threads are.

mod ask;
mod land;

use super::machine::Machine;
use super::reader::Reader;
use super::starve::Starvation;
use base::clock::{Clock as _, CrawlClock, SimulatedClock, Start};
use base::disk::RealDisk;
use base::door::{Failure, Found as Address, Request};
use base::{Capture, Interval, Outcome, PageUrl, Timestamp};
use frontier::{CrawlScope, FoundUrl, Frontier, Mode, Next, RevisitPolicy, Settings, Task};
use sim::observe::{ArrivedRequest, Observer, PolitenessReport, PolitenessRules, RequestEnd};
use sim::{ORIGIN, Plan, SimulatedDoor, StartedExchange, Web};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Number of lessons between commits, unless some hours pass first: a sync takes as long here as in real time.
const COMMIT_LESSONS: u32 = 512;
const COMMIT_AFTER: Interval = Interval::from_hours(6);
/// Offers are judged when they are many, or once in this time: judging them costs a pass over the store, so a large one
/// waits longer, as the running crawler does.
const SETTLE_AFTER: Interval = Interval::from_hours(12);
const SETTLE_AFTER_SMALL: Interval = Interval::from_minutes(10);
/// Maximum number of pages of a small store.
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

/// The result.
#[derive(Debug, Default)]
pub(super) struct Outcomes {
    /// Every request in order, folded into one number.
    pub(super) trace: u64,
    /// Requests for pages.
    pub(super) visits: u64,
    /// Those that brought a page, which was made, digested and read.
    pub(super) bodies: u64,
    /// Those for feeds and sitemaps, and how many of them brought one.
    pub(super) lists: (u64, u64),
    pub(super) unchanged: u64,
    pub(super) gone: u64,
    pub(super) failed: u64,
    pub(super) robots: u64,
    pub(super) politeness: PolitenessReport,
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
    Robots(Outcome, robots::RobotsAnswer, Vec<FoundUrl>),
    Page(Box<StartedExchange>, Outcome),
    Failed(Outcome),
    Refused,
}

/// A visit that the archive is taking in.
struct Pending {
    due: Timestamp,
    page: Option<frontier::Number>,
    capture: Capture,
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
        let rules = PolitenessRules {
            pause: year.pause,
            crawl_delay: true,
            double_window: Interval::from_minutes(1),
        };
        let machine = Arc::new(Machine::default());
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
        let scope = CrawlScope::new(Mode::Any, Vec::new());
        let (seed, pause) = (self.year.plan.seed, self.year.pause);
        let settings = Settings { seed, pause, scope, ..Settings::default() };
        self.frontier = Some(Frontier::open(store, settings, RevisitPolicy::paper(), now).unwrap());
    }
    /// Ends the crawl like a crash, and restarts it with the current wall clock. It first catches up with the archive.
    pub(super) fn restart(&mut self) -> Start {
        while let Some(Reverse((at, number))) = self.flights.pop() {
            let flight = self.in_flight.remove(&number).expect("it took off");
            if let Some((to, request)) = &flight.request {
                let gone = RequestEnd { status: 0, retry_after: None, retry_at: None, at: at.min(self.now) };
                self.observer.request_ended(&coming(*to, request, flight.began), &gone);
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

    /// Adds the home pages of the first `servers` servers, and of the hostile ones.
    pub(super) fn seed(&mut self, servers: u32) {
        let plan = self.web.plan();
        let homes = (0..servers.min(plan.servers)).map(|number| self.web.page_url(number, 0, ORIGIN));
        let hostile = (0..plan.hostile).map(|number| format!("http://{}/", sim::hostile::host(number)));
        let seeds: Vec<FoundUrl> =
            homes.chain(hostile).map(|url| FoundUrl::page(PageUrl::parse(&url).unwrap())).collect();
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
            // Without room to write, no request is sent.
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

    /// Commits and settles from time to time, and checks for starvation.
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

fn coming(to: SocketAddr, request: &Request, at: Timestamp) -> ArrivedRequest<'_> {
    let IpAddr::V4(address) = to.ip() else { panic!("the simulated web has no such address") };
    let url = &request.url;
    ArrivedRequest { scheme: url.scheme(), host: url.host(), target: url.target(), address, at }
}

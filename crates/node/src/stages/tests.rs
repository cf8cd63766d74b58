//! Stages that follow the archive: kept up to date, rebuilt, taken down, shown; with the table of servers of
//! `stage/examples`.

use super::follow::FollowTimes;
use super::*;
use crate::config::Config;
use crate::directory::WebKind;
use crate::monitor::Silent;
use archive::{Group, Imported};
use base::Timestamp;
use base::disk::RealDisk;
use servers::Servers;
use stage::{Arrival, Stage};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tempfile::TempDir;

#[expect(dead_code, unreachable_pub, reason = "it is a program of its own")]
#[path = "../../../stage/examples/servers.rs"]
mod servers;

static TABLE: FollowingStage = FollowingStage {
    name: "software",
    contents: "HTTP server software per server",
    open: |site| Ok(Box::new(open(&site.path)?)),
    checkpoint: |site| open(&site.path)?.checkpoint(),
};

const TABLE_ALONE: &[&dyn InstalledStage] = &[&TABLE];
const FAILING_ALONE: &[&dyn InstalledStage] = &[&FAILING];
const ALL_AND_TABLE: &[&dyn InstalledStage] = &[&schedule::ScheduleStage, &derived::DerivedTable, &TABLE];

fn open(path: &Path) -> Result<Servers, stage::Error> {
    Servers::open(Arc::new(RealDisk), path).map_err(|error| stage::Error::of("software", error))
}

const START: Timestamp = Timestamp::from_micros(1_795_129_200_123_456).unwrap();
const AT_ONCE: FollowTimes = FollowTimes { round: Duration::ZERO, retry: Duration::ZERO };

/// A data directory with one stage that follows.
struct Place {
    _directory: TempDir,
    node: Node,
    writer: Arc<DirectoryWriter>,
}

impl Place {
    fn new(stages: &'static [&'static dyn InstalledStage]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let data = directory.path().join("data");
        let config = Config::load(None, &data).unwrap();
        let node = Node { data, config, monitor: Arc::new(Silent), stages };
        let writer = Arc::new(node.lock(WebKind::Public, "crawl", START).unwrap());
        Self { _directory: directory, node, writer }
    }
    /// Archives an answer of a server that names its software.
    fn archive(&self, server: &str, path: &str, software: &str) {
        let mut archive = self.node.archive(&self.writer, START).unwrap();
        let answer =
            format!("HTTP/1.1 200 OK\r\nServer: {software}\r\nContent-Length: 2\r\n\r\nhi").into_bytes();
        let group = Group::of_answer(&format!("http://{server}/{path}"), None, START, answer);
        assert!(matches!(archive.import(&group).unwrap(), Imported::Added(_)));
        archive.close().unwrap();
    }
    fn follow(&self) -> Followers {
        Followers::start_with(&self.node, &self.writer, StageStates::default(), AT_ONCE)
    }
    fn software(&self, server: &str) -> Option<String> {
        open(&self.node.data.join("software")).unwrap().software(server).map(str::to_owned)
    }
    fn view(&self, running: Option<&StageStates>) -> StageView {
        views(&self.node, running).unwrap().remove(0)
    }
}

#[test]
fn every_stage_has_a_name_of_its_own_that_no_other_file_of_the_data_directory_has() {
    let mut names: Vec<&str> = ALL.iter().map(|stage| stage.name()).collect();
    names.extend(["archive", "scans", "guard", "control", "lock", "index", "FORMAT"]);
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn a_stage_follows_what_is_archived_and_shows_how_far_it_is() {
    let place = Place::new(TABLE_ALONE);
    place.archive("a.example", "1", "nginx");
    assert_eq!(
        place.view(None),
        StageView { stage: "software".into(), lag: Some(1), ..StageView::default() }
    );
    let followers = place.follow();
    let states = followers.states();
    states.settled("software");
    assert_eq!(place.software("a.example").as_deref(), Some("nginx"));
    place.archive("b.example", "1", "apache");
    states.settled("software");
    assert_eq!(place.software("b.example").as_deref(), Some("apache"));
    let view = place.view(Some(&states));
    assert_eq!((view.lag, view.captures, view.is_running, view.failure), (Some(0), 2, true, None));
    // What arrives last is processed before a crawl that has nothing left to do ends.
    place.archive("c.example", "1", "caddy");
    followers.finish();
    assert_eq!(place.software("c.example").as_deref(), Some("caddy"));
    assert!(!place.view(Some(&states)).is_running);
}

#[test]
fn a_paused_stage_waits_and_goes_on_where_it_was() {
    let place = Place::new(TABLE_ALONE);
    let followers = place.follow();
    let states = followers.states();
    states.settled("software");
    states.pause();
    place.archive("a.example", "1", "nginx");
    states.wake();
    let view = place.view(Some(&states));
    assert_eq!((view.lag, view.is_paused), (Some(1), true));
    assert_eq!(place.software("a.example"), None);
    states.resume();
    states.settled("software");
    assert_eq!(place.software("a.example").as_deref(), Some("nginx"));
    // Stopped threads leave the rest to the next start.
    drop(followers);
    place.archive("b.example", "1", "apache");
    assert_eq!(place.view(None).lag, Some(1));
    place.follow().finish();
    assert_eq!((place.software("b.example").as_deref(), place.view(None).lag), (Some("apache"), Some(0)));
}

static FAILURES: AtomicU32 = AtomicU32::new(0);
static FAILING: FollowingStage = FollowingStage {
    name: "software",
    contents: "",
    open: |site| Ok(Box::new(Failing(open(&site.path)?))),
    checkpoint: |site| open(&site.path)?.checkpoint(),
};

/// Fails a number of times.
struct Failing(Servers);

impl Stage for Failing {
    fn name(&self) -> &'static str {
        self.0.name()
    }
    fn checkpoint(&self) -> Result<Option<archive::Checkpoint>, stage::Error> {
        self.0.checkpoint()
    }
    fn take(&mut self, arrival: &Arrival<'_>) -> Result<(), stage::Error> {
        let is_left = |left: u32| left.checked_sub(1);
        match FAILURES.fetch_update(Ordering::Relaxed, Ordering::Relaxed, is_left) {
            Ok(_) => Err(stage::Error::of("software", "it is broken")),
            Err(_) => self.0.take(arrival),
        }
    }
    fn commit(&mut self, checkpoint: &archive::Checkpoint) -> Result<(), stage::Error> {
        self.0.commit(checkpoint)
    }
    fn take_down(&mut self, target: &Target) -> Result<u64, stage::Error> {
        self.0.take_down(target)
    }
    fn clear(&mut self) -> Result<(), stage::Error> {
        self.0.clear()
    }
}

#[test]
fn a_stage_that_fails_is_shown_and_tried_again_and_a_rebuild_that_fails_keeps_the_old_data() {
    let place = Place::new(FAILING_ALONE);
    place.archive("a.example", "1", "nginx");
    FAILURES.store(1, Ordering::Relaxed);
    let times = FollowTimes { retry: Duration::from_secs(600), ..AT_ONCE };
    let states = StageStates::default();
    let followers = Followers::start_with(&place.node, &place.writer, states.clone(), times);
    states.settled("software");
    let view = place.view(Some(&states));
    assert_eq!(
        view.failure.as_deref(),
        Some("cannot keep up to date `software`: cannot update `software`: it is broken")
    );
    assert_eq!(view.lag, Some(1), "nothing is lost");
    // A crawl that ends does not wait for it.
    followers.finish();
    FAILURES.store(3, Ordering::Relaxed);
    let followers = Followers::start_with(&place.node, &place.writer, states.clone(), AT_ONCE);
    while place.view(Some(&states)).lag != Some(0) {
        states.settled("software");
    }
    followers.finish();
    assert_eq!(place.software("a.example").as_deref(), Some("nginx"));
    assert_eq!(place.view(Some(&states)).failure, None);
    FAILURES.store(1, Ordering::Relaxed);
    let error = place.node.stages[0].rebuild(&place.node, &place.writer).unwrap_err();
    assert!(error.advice().unwrap().contains("`utsushi rebuild software`"), "{error}");
    assert_eq!((place.software("a.example").as_deref(), place.view(None).lag), (Some("nginx"), Some(0)));
    let rebuilt = place.node.stages[0].rebuild(&place.node, &place.writer).unwrap();
    assert_eq!((rebuilt.captures, place.software("a.example").as_deref()), (1, Some("nginx")));
}

#[test]
fn a_takedown_reaches_every_stage_and_counts_what_it_removed() {
    let place = Place::new(ALL_AND_TABLE);
    place.archive("a.example", "1", "nginx");
    place.archive("b.example", "1", "apache");
    place.follow().finish();
    let target = Target::server("b.example").unwrap();
    let receipt = place.node.take_down(&place.writer, (&target, "asked for"), START).unwrap();
    assert_eq!(receipt.stages["software"], 1);
    assert_eq!((receipt.stages.len(), receipt.stages_incomplete), (3, None));
    assert_eq!((place.software("a.example").as_deref(), place.software("b.example")), (Some("nginx"), None));
    assert!(!place.node.data.join("takedown.pending").exists());
    // A rebuild does not bring it back.
    TABLE.rebuild(&place.node, &place.writer).unwrap();
    assert_eq!(place.software("b.example"), None);
}

#[test]
fn survives_m1_a_takedown_cut_off_between_archive_and_stages() {
    let place = Place::new(TABLE_ALONE);
    place.archive("a.example", "1", "nginx");
    place.follow().finish();
    // As a crash leaves it: decided in the archive, noted, and nothing more.
    let pending = place.node.data.join("takedown.pending");
    std::fs::write(&pending, "server a.example\nserver undecided.example\n").unwrap();
    let mut archive = place.node.archive(&place.writer, START).unwrap();
    assert_eq!(place.software("a.example").as_deref(), Some("nginx"), "what is not decided is not removed");
    assert!(!pending.exists());
    archive.takedown(&Target::server("a.example").unwrap(), "", START, &mut |_, _| {}).unwrap();
    archive.close().unwrap();
    std::fs::write(&pending, "server a.example\n").unwrap();
    place.node.archive(&place.writer, START).unwrap().close().unwrap();
    assert_eq!(place.software("a.example"), None);
    assert!(!pending.exists());
}

#[test]
fn a_swap_that_was_cut_off_is_finished_by_the_next_writer() {
    let place = Place::new(TABLE_ALONE);
    place.archive("a.example", "1", "nginx");
    TABLE.rebuild(&place.node, &place.writer).unwrap();
    let (data, new) = (place.node.data.clone(), place.node.data.join("software.tmp"));
    // As a crash between the two renames leaves it.
    std::fs::create_dir(&new).unwrap();
    std::fs::rename(data.join("software"), new.join("software")).unwrap();
    std::fs::create_dir(new.join("old")).unwrap();
    finish_swaps(&data, place.node.stages).unwrap();
    assert_eq!((place.software("a.example").as_deref(), new.exists()), (Some("nginx"), false));
    // One that was cut off before is not: it may be incomplete.
    std::fs::create_dir_all(new.join("software")).unwrap();
    finish_swaps(&data, place.node.stages).unwrap();
    assert_eq!((place.software("a.example").as_deref(), new.exists()), (Some("nginx"), true));
}

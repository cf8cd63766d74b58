//! The seam between the archive and what is derived from it: catch-up, crashes, imports, takedowns, rebuilds, damage.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod counts;
mod live;
mod survives;

#[expect(dead_code, unreachable_pub, reason = "it is a program of its own")]
#[path = "../../examples/servers.rs"]
mod servers;

use archive::{Archive, Group, Imported, Reader, Settings, Target};
use base::disk::SimulatedDisk;
use base::{Interval, Timestamp};
use counts::Counts;
use servers::Servers;
use stage::{BodyParser, Error, LOOK_AHEAD_CAPTURES, Lag, Runner, Stage};
use std::path::Path;
use std::sync::Arc;

const ARCHIVE: &str = "/data/archive";
const START: Timestamp = Timestamp::from_micros(1_795_129_200_123_456).unwrap();

fn open_archive(disk: &SimulatedDisk) -> Archive {
    let settings = Settings { file_captures_max: 5, merges_beside: false, ..Settings::default() };
    Archive::open(Arc::new(disk.clone()), Path::new(ARCHIVE), settings, START).unwrap().0
}

/// An answer of `server` that names its software, so many seconds after the start.
fn answer(server: &str, path: &str, software: &str, seconds: u64) -> Group {
    let body = format!("<title>{path}</title><p>the page {path} of {server}");
    let head = format!(
        "HTTP/1.1 200 OK\r\nServer: {software}\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let at = START.plus(Interval::from_seconds(seconds));
    Group::of_answer(&format!("http://{server}/{path}"), None, at, (head + &body).into_bytes())
}

/// Adds captures of `groups`, and makes them durable.
fn import(disk: &SimulatedDisk, groups: impl IntoIterator<Item = Group>) {
    let mut archive = open_archive(disk);
    for group in groups {
        assert!(matches!(archive.import(&group).unwrap(), Imported::Added(_)));
    }
    archive.close().unwrap();
}

/// Twelve answers of three servers, which change their software on the way.
fn some() -> impl Iterator<Item = Group> {
    (0..12).map(|number| {
        let server = ["a.example", "b.example", "c.example"][number % 3];
        let software = ["nginx", "apache"][usize::from(number > 6)];
        answer(server, &format!("page{number}"), software, number as u64)
    })
}

fn reader(disk: &SimulatedDisk) -> Reader {
    Reader::open(Arc::new(disk.clone()), Path::new(ARCHIVE)).unwrap()
}

fn parser() -> BodyParser {
    BodyParser { agent: "utsushi".into(), requisites: false }
}

fn runner(disk: &SimulatedDisk) -> Runner {
    Runner::new(reader(disk), parser())
}

fn servers(disk: &SimulatedDisk) -> Servers {
    Servers::open(Arc::new(disk.clone()), Path::new("/data")).unwrap()
}

#[test]
fn the_example_runs() {
    servers::run().unwrap();
}

#[test]
fn a_stage_catches_up_and_goes_on_where_it_was() {
    let disk = SimulatedDisk::new(1);
    import(&disk, some());
    let mut counts = Counts::open(&disk, "counts").unwrap();
    let progress = runner(&disk).catch_up(&mut [&mut counts], |_| {}).unwrap();
    assert_eq!((progress.captures, progress.damaged, progress.is_paused), (12, 0, false));
    assert_eq!(counts.to_string(), "apache 5, nginx 7");
    // Nothing is left to do, and nothing is done twice.
    let mut counts = Counts::open(&disk, "counts").unwrap();
    assert_eq!(runner(&disk).catch_up(&mut [&mut counts], |_| {}).unwrap().captures, 0);
    assert_eq!(counts.to_string(), "apache 5, nginx 7");
}

#[test]
fn an_import_of_older_captures_is_taken_later_and_does_not_win() {
    let disk = SimulatedDisk::new(1);
    import(&disk, some());
    let (mut counts, mut table) = (Counts::open(&disk, "counts").unwrap(), servers(&disk));
    runner(&disk).catch_up(&mut [&mut counts, &mut table], |_| {}).unwrap();
    assert_eq!(table.software("b.example"), Some("apache"));
    import(&disk, [answer("b.example", "old", "NCSA", 0), answer("d.example", "new", "caddy", 99)]);
    let progress = runner(&disk).catch_up(&mut [&mut counts, &mut table], |_| {}).unwrap();
    assert_eq!(progress.captures, 2);
    assert_eq!(counts.to_string(), "NCSA 1, apache 5, caddy 1, nginx 7");
    assert_eq!((table.software("b.example"), table.software("d.example")), (Some("apache"), Some("caddy")));
}

#[test]
fn two_stages_at_different_checkpoints_share_one_reading() {
    let disk = SimulatedDisk::new(1);
    import(&disk, some().take(4));
    let (mut early, mut late) = (Counts::open(&disk, "early").unwrap(), Counts::open(&disk, "late").unwrap());
    runner(&disk).catch_up(&mut [&mut early], |_| {}).unwrap();
    import(&disk, some().skip(4));
    let parsed = early.bodies.len();
    let progress = runner(&disk).catch_up(&mut [&mut early, &mut late], |_| {}).unwrap();
    assert_eq!(progress.captures, 12);
    assert_eq!((early.bodies.len() - parsed, late.bodies.len()), (8, 12), "each gets what it has not had");
    assert_eq!(early.bodies[parsed..], late.bodies[4..], "the very same parsed page, at the same address");
    assert_eq!(
        (early.to_string(), early.checkpoint().unwrap()),
        (late.to_string(), late.checkpoint().unwrap())
    );
}

#[test]
fn a_takedown_removes_what_was_derived() {
    let disk = SimulatedDisk::new(1);
    import(&disk, some());
    let mut table = servers(&disk);
    runner(&disk).catch_up(&mut [&mut table], |_| {}).unwrap();
    let target = Target::server("c.example").unwrap();
    let mut archive = open_archive(&disk);
    archive.takedown(&target, "asked for", START, &mut |_, _| {}).unwrap();
    archive.close().unwrap();
    assert_eq!(stage::take_down(&mut [&mut table], &target).unwrap(), 1);
    let mut table = servers(&disk);
    assert_eq!((table.software("a.example"), table.software("c.example")), (Some("apache"), None));
    // A rebuild does not bring it back.
    runner(&disk).rebuild(&mut [&mut table], |_| {}).unwrap();
    assert_eq!((table.software("a.example"), table.software("c.example")), (Some("apache"), None));
}

#[test]
fn a_rebuild_gives_the_same() {
    let disk = SimulatedDisk::new(1);
    import(&disk, some());
    let mut counts = Counts::open(&disk, "counts").unwrap();
    runner(&disk).catch_up(&mut [&mut counts], |_| {}).unwrap();
    let (before, checkpoint) = (counts.to_string(), counts.checkpoint().unwrap());
    let mut commits = 0;
    let rebuilt = runner(&disk).commit_every(5).rebuild(&mut [&mut counts], |_| commits += 1).unwrap();
    assert_eq!((rebuilt.captures, commits), (12, 2));
    assert_eq!((counts.to_string(), counts.checkpoint().unwrap()), (before, checkpoint));
}

#[test]
fn a_checkpoint_that_cannot_be_read_is_an_error_that_names_the_remedy() {
    let disk = SimulatedDisk::new(1);
    import(&disk, some());
    let mut counts = Counts::open(&disk, "counts").unwrap();
    counts.store("utsushi-2026.warc.gz@x").unwrap();
    let mut counts = Counts::open(&disk, "counts").unwrap();
    let error = runner(&disk).catch_up(&mut [&mut counts], |_| {}).unwrap_err();
    assert!(matches!(&error, Error::Checkpoint { stage: "counts", .. }), "{error:?}");
    assert_eq!(
        error.to_string(),
        "the checkpoint of `counts` cannot be read: `utsushi-2026.warc.gz@x`; run `utsushi rebuild counts`, which \
         rebuilds it from the archive"
    );
    assert_eq!(counts.to_string(), "", "nothing was processed");
    runner(&disk).rebuild(&mut [&mut counts], |_| {}).unwrap();
    assert_eq!(counts.to_string(), "apache 5, nginx 7");
}

#[test]
fn a_damaged_capture_is_passed_over_and_counted_once() {
    let disk = SimulatedDisk::new(1);
    import(&disk, some());
    let entries: Vec<_> = reader(&disk).since(None).unwrap().map(|arrival| arrival.unwrap().0).collect();
    let location = &entries[6].location;
    let path = Path::new(ARCHIVE).join(&*location.file);
    disk.flip_bit(&path, (location.offset + location.length / 2) * 8).unwrap();
    let (mut counts, mut table) = (Counts::open(&disk, "counts").unwrap(), servers(&disk));
    let progress = runner(&disk).catch_up(&mut [&mut counts, &mut table], |_| {}).unwrap();
    assert_eq!((progress.captures, progress.damaged), (12, 1));
    assert_eq!(counts.to_string(), "apache 5, nginx 6");
    assert_eq!(counts.checkpoint().unwrap(), progress.checkpoint, "it goes on after the damage");
}

#[test]
fn a_run_that_is_paused_commits_and_goes_on_later() {
    let disk = SimulatedDisk::new(1);
    import(&disk, some());
    let mut counts = Counts::open(&disk, "counts").unwrap();
    let runner = runner(&disk).commit_every(4);
    let switch = runner.pause_switch();
    let progress = runner.catch_up(&mut [&mut counts], |_| switch.pause()).unwrap();
    assert_eq!((progress.captures, progress.is_paused), (4, true));
    assert_eq!(runner.lag(&counts).unwrap(), Lag { captures: 8, is_more: false });
    assert_eq!(runner.catch_up(&mut [&mut counts], |_| {}).unwrap().captures, 0, "it stays paused");
    switch.resume();
    assert_eq!(runner.catch_up(&mut [&mut counts], |_| {}).unwrap().captures, 8);
    assert_eq!(runner.lag(&counts).unwrap(), Lag::default());
    assert_eq!(counts.to_string(), "apache 5, nginx 7");
}

#[test]
fn a_stage_follows_an_archive_that_grows() {
    let disk = SimulatedDisk::new(1);
    let (mut counts, mut rounds) = (Counts::open(&disk, "counts").unwrap(), Vec::new());
    let mut more = some();
    runner(&disk)
        .follow(&mut [&mut counts], |progress| {
            rounds.push(progress.captures);
            let groups: Vec<Group> = more.by_ref().take(5).collect();
            let has_ended = groups.is_empty();
            import(&disk, groups);
            Ok((!has_ended).then(|| reader(&disk)))
        })
        .unwrap();
    assert_eq!(rounds, [0, 5, 5, 2]);
    assert_eq!(counts.to_string(), "apache 5, nginx 7");
}

#[test]
fn a_stage_can_look_ahead_but_not_without_end() {
    let disk = SimulatedDisk::new(1);
    let mut archive = open_archive(&disk);
    let count = LOOK_AHEAD_CAPTURES + 10;
    for number in 0..count {
        archive.note("test", START, &number.to_string()).unwrap();
    }
    archive.close().unwrap();
    let mut counts = Counts::open(&disk, "counts").unwrap();
    runner(&disk).catch_up(&mut [&mut counts], |_| {}).unwrap();
    assert_eq!(counts.ahead.first(), Some(&(LOOK_AHEAD_CAPTURES - 1)));
    assert_eq!((counts.ahead.len(), counts.ahead.last()), (count, Some(&0)));
}

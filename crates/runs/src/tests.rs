//! Stores of a small row type, against sorted lists and through crashes.

use crate::{
    Error, Keep, KeyBounds, Names, PublishedRuns, RowEncoder, RowSource, Rows, RunStore, Secondary, Walk,
};
use base::Chance;
use base::bytes::{ByteReader, put_number};
use base::disk::{Disk, Fault, Open, SimulatedDisk, Survival};
use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

const DIRECTORY: &str = "/links";

/// Links: the key is the target, the row the page that links to it.
#[derive(Clone, Debug, Default)]
struct Links(Vec<(Vec<u8>, u64)>);

/// A link by its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BySource(u64);

impl Rows for Links {
    const MAGIC: &'static [u8; 8] = b"LINKRUN1";
    const GENERATION: &'static str = "links 1";
    type Row = u64;
    type Encoder = LinkEncoder;
    type Secondary = BySource;

    fn len(&self) -> usize {
        self.0.len()
    }
    fn key(&self, number: usize) -> &[u8] {
        &self.0[number].0
    }
    fn row(&self, number: usize) -> &u64 {
        &self.0[number].1
    }
    fn decode(&mut self, block: &[u8], _: &[u32]) -> Option<()> {
        let mut block = ByteReader(block);
        self.0.clear();
        while !block.is_empty() {
            let length = block.count()?;
            self.0.push((block.take(length)?.to_vec(), block.number()?));
        }
        Some(())
    }
    fn order(one: &u64, other: &u64, _: &Names) -> Ordering {
        one.cmp(other)
    }
}

#[derive(Debug, Default)]
struct LinkEncoder(Vec<u8>);

impl RowEncoder for LinkEncoder {
    type Row = u64;

    fn bytes(&self) -> usize {
        self.0.len()
    }
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    fn push(&mut self, key: &[u8], row: &u64, _: &mut dyn FnMut(u32) -> u32) {
        put_number(&mut self.0, key.len() as u64);
        self.0.extend_from_slice(key);
        put_number(&mut self.0, *row);
    }
    fn finish(&mut self, bytes: &mut Vec<u8>) {
        bytes.append(&mut self.0);
    }
}

impl Secondary for BySource {
    const BYTES: usize = 8;
    const PER_BLOCK: usize = 16;

    fn prefix(&self) -> u64 {
        self.0
    }
    fn order(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0)
    }
    fn encode(&self, bytes: &mut Vec<u8>, _: &mut dyn FnMut(u32) -> u32) {
        bytes.extend_from_slice(&self.0.to_le_bytes());
    }
    fn decode(bytes: &mut ByteReader<'_>, _: &[u32]) -> Option<Self> {
        bytes.u64().map(Self)
    }
}

type Link = (Vec<u8>, u64);

/// Links to few targets; some targets have so many that they need several blocks.
fn links(chance: &mut Chance, count: u64) -> Vec<Link> {
    let target = |chance: &mut Chance| match chance.below(3) {
        0 => "often".repeat(40),
        _ => format!("page/{}", chance.below(30)),
    };
    (0..count).map(|_| (target(chance).into_bytes(), chance.below(5_000))).collect()
}

fn add(store: &mut RunStore<Links>, input: &str, links: &[Link]) -> Result<(), Error> {
    let mut links = links.to_vec();
    links.sort();
    let mut sources: Vec<u64> = links.iter().map(|(_, source)| *source).collect();
    sources.sort_unstable();
    sources.dedup();
    store.add_run(links.len() as u64, [Arc::from(input)], |run, _| {
        links.iter().try_for_each(|(key, row)| run.push(key, row))?;
        sources.iter().try_for_each(|source| run.push_secondary(&BySource(*source)))
    })?;
    store.merge()
}

fn open(disk: &SimulatedDisk) -> Result<(RunStore<Links>, Option<Error>), Error> {
    RunStore::open(Arc::new(disk.clone()), Path::new(DIRECTORY))
}

fn walk(sources: &[RowSource<Links>], bounds: &KeyBounds) -> Vec<Link> {
    let mut walk = Walk::new(sources, &Arc::default(), bounds).unwrap();
    let mut found = Vec::new();
    while let Some((key, row)) = walk.current() {
        found.push((key.to_vec(), *row));
        walk.step().unwrap();
    }
    found.reverse();
    found
}

#[test]
fn model_a_store_holds_what_was_added_however_it_was_merged() {
    for seed in 0..10 {
        let (disk, mut chance) = (SimulatedDisk::new(seed), Chance::new(seed));
        let (mut store, damage) = open(&disk).unwrap();
        assert!(damage.is_none());
        let mut expected = Vec::new();
        for number in 0..40 {
            let count = *chance.pick(&[1, 20, 700]);
            let part = links(&mut chance, count);
            add(&mut store, &format!("input-{number}"), &part).unwrap();
            expected.extend(part);
        }
        expected.sort();
        assert!(store.runs().count() < 16, "runs are merged");
        assert_eq!(walk(&store.sources(), &KeyBounds::all()), expected);
        let published =
            PublishedRuns::<Links>::open(&disk, Path::new(DIRECTORY), &mut Names::default()).unwrap();
        let sources: Vec<_> = published.runs.iter().map(|run| RowSource::Run(Arc::clone(run))).collect();
        for key in [&b"page/7"[..], b"page/", b"none"] {
            let within = |(other, _): &&Link| other.starts_with(key);
            let found = walk(&sources, &KeyBounds::prefix(key));
            assert!(found.iter().eq(expected.iter().filter(within)), "{key:?}");
        }
        assert!(published.covers("input-39") && !published.covers("input-40"));
        for source in 0..100 {
            let is_known = expected.iter().any(|(_, other)| *other == source);
            let look = |entries: &[BySource]| match entries.contains(&BySource(source)) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            };
            let found = published.runs.iter().any(|run| run.look_up(source, look).unwrap().is_some());
            assert_eq!(found, is_known, "{source}");
        }
    }
}

#[test]
fn a_rewrite_leaves_out_what_is_not_wanted() {
    struct Below(u64);
    impl Keep<Links> for Below {
        fn row(&mut self, _: &[u8], row: &mut u64, _: &mut Names) -> bool {
            *row < self.0
        }
        fn secondary(&mut self, entry: &BySource) -> bool {
            entry.0 < self.0
        }
    }
    let mut chance = Chance::new(1);
    let (mut store, _) = open(&SimulatedDisk::new(1)).unwrap();
    let (one, other) = (links(&mut chance, 300), links(&mut chance, 300));
    add(&mut store, "one", &one).unwrap();
    add(&mut store, "other", &other).unwrap();
    store.rewrite(&mut Below(1_000)).unwrap();
    let mut expected: Vec<Link> = [one, other].concat();
    expected.retain(|(_, source)| *source < 1_000);
    expected.sort();
    assert_eq!(walk(&store.sources(), &KeyBounds::all()), expected);
    store.clear().unwrap();
    assert!(store.sources().is_empty() && !store.covers("one"));
}

#[test]
fn detects_any_flipped_bit() {
    let (disk, mut chance) = (SimulatedDisk::new(2), Chance::new(2));
    let (mut store, _) = open(&disk).unwrap();
    add(&mut store, "one", &links(&mut chance, 60)).unwrap();
    let is_sound = || {
        let published = PublishedRuns::<Links>::open(&disk, Path::new(DIRECTORY), &mut Names::default());
        published.is_ok_and(|published| published.runs.iter().all(|run| run.verify().is_ok()))
    };
    assert!(is_sound());
    for path in disk.list(Path::new(DIRECTORY)).unwrap() {
        let length = disk.open(&path, Open::Read).unwrap().length().unwrap();
        for bit in (0..length * 8).step_by(3) {
            disk.flip_bit(&path, bit).unwrap();
            assert!(!is_sound(), "bit {bit} of `{}`", path.display());
            disk.flip_bit(&path, bit).unwrap();
        }
    }
}

/// Adds seven inputs, so that there is a merge, and returns how many were acknowledged.
fn fill(disk: &SimulatedDisk, parts: &[Vec<Link>]) -> usize {
    let Ok((mut store, _)) = open(disk) else { return 0 };
    for (number, part) in parts.iter().enumerate() {
        if add(&mut store, &number.to_string(), part).is_err() {
            return number;
        }
    }
    parts.len()
}

/// After a crash the store holds exactly the rows of the inputs that it covers, and all that were acknowledged.
fn check(disk: &SimulatedDisk, parts: &[Vec<Link>], acknowledged: usize) -> Result<(), String> {
    let (store, damage) = open(disk).map_err(|error| error.to_string())?;
    if let Some(damage) = damage {
        return Err(damage.to_string());
    }
    let covered = (0..parts.len()).take_while(|number| store.covers(&number.to_string())).count();
    if covered < acknowledged {
        return Err(format!("{covered} inputs are covered, {acknowledged} were acknowledged"));
    }
    let mut expected = parts[..covered].concat();
    expected.sort();
    let found = walk(&store.sources(), &KeyBounds::all());
    if found == expected {
        Ok(())
    } else {
        Err(format!("{} rows instead of {}", found.len(), expected.len()))
    }
}

fn parts() -> Vec<Vec<Link>> {
    let mut chance = Chance::new(3);
    (0..7).map(|_| links(&mut chance, 30)).collect()
}

#[test]
fn survives_a_fault_at_every_write() {
    let parts = parts();
    let whole = SimulatedDisk::new(0);
    assert_eq!(fill(&whole, &parts), parts.len());
    assert!(whole.points() > 50, "{} points", whole.points());
    for point in 0..whole.points() {
        for (fault, survival) in [
            (Fault::Cut, Survival::All),
            (Fault::Cut, Survival::None),
            (Fault::Cut, Survival::Random),
            (Fault::Error, Survival::Random),
        ] {
            let disk = SimulatedDisk::new(point);
            disk.set_survival(survival);
            disk.fail_at(point, fault);
            let acknowledged = fill(&disk, &parts);
            disk.cut_now();
            disk.restart();
            check(&disk, &parts, acknowledged)
                .unwrap_or_else(|error| panic!("{fault:?} at {point}, {survival:?}: {error}"));
        }
    }
}

#[test]
fn without_syncs_rows_are_lost() {
    let parts = parts();
    let lost = (0..20).any(|seed| {
        let disk = SimulatedDisk::new(seed);
        disk.ignore_syncs(true);
        disk.set_survival(Survival::None);
        let acknowledged = fill(&disk, &parts);
        disk.cut_now();
        disk.restart();
        check(&disk, &parts, acknowledged).is_err()
    });
    assert!(lost, "the test sees what a missing sync does");
}

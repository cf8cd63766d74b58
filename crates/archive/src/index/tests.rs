//! Runs, their merging and the walk over them, against sorted lists.

use super::body::{self, Body, tag};
use super::memory::Memory;
use super::row::{Place, Row, Rows};
use super::{Files, KeyBounds, Origin, PublishedRuns, Run, Walk, Wanted};
use crate::capture::entry::{ContentKey, Flag, Stored};
use base::disk::{Disk, Open, SimulatedDisk};
use base::{Chance, Sha1Digest, Timestamp};
use runs::{Rows as _, RunStore};
use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;

const DIRECTORY: &str = "/index";

/// Rows in their order, each with its key.
type Sorted = Vec<(String, Row)>;

fn files() -> Files {
    let mut files = Files::default();
    // Their numbers are not in the order of their names.
    ["c.warc.gz", "a.warc.gz", "b.warc.gz"].into_iter().for_each(|name| _ = files.number(name));
    files
}

/// A row with a unique location; moments and bodies are few, so that there are ties.
fn row(chance: &mut Chance, number: u64) -> Row {
    let digest = u8::try_from(chance.below(40)).unwrap();
    let file = u32::try_from(chance.below(3)).unwrap();
    Row {
        at: Timestamp::from_micros(i64::try_from(chance.below(50)).unwrap() * 1_000_000).unwrap(),
        place: Place { file, offset: number * 1_000, length: 100 + chance.below(100) },
        group_bytes: 500,
        sum: u32::try_from(chance.below(1 << 32)).unwrap(),
        status: *chance.pick(&[0, 200, 304, 404]),
        kind: *chance.pick(&Stored::ALL),
        flag: *chance.pick(&Flag::ALL),
        truncated: chance.below(9) == 0,
        moves_within: chance.below(9) == 0,
        is_https: chance.below(2) == 0,
        payload: (chance.below(4) > 0).then(|| Sha1Digest::from_bytes([digest; 20])),
        content: (chance.below(4) > 0).then_some(ContentKey([digest % 7; 16])),
        body: None,
        media_type: Arc::from(*chance.pick(&["", "text/html", "image/png"])),
        url: (chance.below(3) == 0).then(|| format!("http://example.org/{}", "x".repeat(400)).into()),
    }
}

/// Rows of few keys; some keys have so many that they need several blocks.
fn rows(chance: &mut Chance, count: u64, first: u64) -> Vec<(String, Row)> {
    let key = |chance: &mut Chance| match chance.below(4) {
        0 => "com,example)/often".to_owned(),
        1 => format!("com,example)/{}", chance.below(5)),
        2 => format!("org,example)/{}", chance.below(40)),
        _ => format!("org,example)/often/{}", chance.below(2)),
    };
    (0..count).map(|number| (key(chance), row(chance, first + number))).collect()
}

fn sort(rows: &mut Sorted, files: &Files) {
    rows.sort_by(|one, other| one.0.cmp(&other.0).then_with(|| one.1.order(&other.1, files)));
}

fn memory(rows: &[(String, Row)], files: &Files) -> Memory {
    let mut memory = Memory::default();
    rows.iter().for_each(|(key, row)| memory.add(key, row.clone(), files));
    memory
}

fn write(store: &mut RunStore<Rows>, memory: &Memory) {
    store
        .add_run(memory.key_count(), [], |writer, _| {
            memory.iter().try_for_each(|(key, row)| writer.push(key.as_bytes(), row))?;
            memory.bodies().try_for_each(|body| writer.push_secondary(body))
        })
        .unwrap();
}

/// An empty store with the names of the files.
fn store(disk: &SimulatedDisk) -> RunStore<Rows> {
    let (mut store, _) = RunStore::open(Arc::new(disk.clone()), Path::new(DIRECTORY)).unwrap();
    *store.names_mut() = files();
    store
}

/// Replaces all runs by one of the rows that are wanted.
fn merge(store: &mut RunStore<Rows>, keep: &mut dyn FnMut(&str, &mut Row, &mut Files) -> bool) -> Arc<Run> {
    store.rewrite(&mut Wanted { keep, gone: HashSet::new() }).unwrap();
    Arc::clone(store.runs().next().unwrap())
}

/// What a walk returns, in its order.
fn walk(origins: &[Origin], files: &Arc<Files>, range: &KeyBounds) -> Sorted {
    let (mut walk, mut found) = (Walk::new(origins, files, range).unwrap(), Vec::new());
    while let Some((_, row)) = walk.current() {
        found.push((walk.key_text().to_owned(), row.clone()));
        walk.step().unwrap();
    }
    found
}

struct Rig {
    store: RunStore<Rows>,
    files: Arc<Files>,
    runs: Vec<Arc<Run>>,
    origins: Vec<Origin>,
    sorted: Sorted,
}

/// Some runs and some rows in memory, and all of them in one list.
fn rig(seed: u64) -> Rig {
    let (mut store, mut chance) = (store(&SimulatedDisk::new(seed)), Chance::new(seed));
    let mut sorted = Sorted::new();
    for id in 0..1 + chance.below(6) {
        let count = *chance.pick(&[1, 10, 300, 900]);
        let part = rows(&mut chance, count, id * 10_000);
        let memory = memory(&part, store.names());
        write(&mut store, &memory);
        sorted.extend(part);
    }
    let part = rows(&mut chance, 40, 90_000);
    let files = Arc::clone(store.names());
    let in_memory = Arc::new(memory(&part, &files).to_rows());
    sorted.extend(part);
    sort(&mut sorted, &files);
    let runs: Vec<Arc<Run>> = store.runs().cloned().collect();
    let origins = store.sources().into_iter().chain([Origin::Memory(in_memory)]).collect();
    Rig { store, files, runs, origins, sorted }
}

fn within(range: &KeyBounds, key: &str) -> bool {
    key.as_bytes() >= range.from.as_slice()
        && range.to.as_ref().is_none_or(|to| key.as_bytes() < to.as_slice())
}

const BOUNDS: [&str; 9] = [
    "",
    "com,example)/",
    "com,example)/3",
    "com,example)/often",
    "com,example)/often\0",
    "org,example)/1",
    "org,example)/often/",
    "org,example)/often/1",
    "z",
];

#[test]
fn model_walks_agree_with_a_sorted_list() {
    for seed in 0..25 {
        let rig = rig(seed);
        let blocks: usize = rig.runs.iter().map(|run| run.block_count()).sum();
        assert!(seed > 0 || blocks > rig.runs.len(), "keys span blocks");
        for from in BOUNDS {
            for to in BOUNDS.into_iter().map(Some).chain([None]).filter(|to| to.is_none_or(|to| to >= from)) {
                let range = KeyBounds { from: from.into(), to: to.map(Into::into) };
                let expected: Sorted =
                    rig.sorted.iter().filter(|(key, _)| within(&range, key)).rev().cloned().collect();
                assert_eq!(walk(&rig.origins, &rig.files, &range), expected, "seed {seed}, {range:?}");
            }
        }
    }
}

#[test]
fn model_skipping_goes_to_the_next_key_from_any_position() {
    for seed in 0..40 {
        let (rig, mut chance) = (rig(seed), Chance::of(&[seed, 1]));
        let from = *chance.pick(&BOUNDS);
        let to = chance.pick(&BOUNDS[5..]).as_bytes().to_vec();
        let range = KeyBounds { from: from.into(), to: Some(to) };
        let expected: Sorted =
            rig.sorted.iter().filter(|(key, _)| within(&range, key)).rev().cloned().collect();
        let mut walk = Walk::new(&rig.origins, &rig.files, &range).unwrap();
        let mut place = 0;
        while place < expected.len() {
            let (key, row) = walk.current().unwrap();
            assert_eq!(
                (key, row),
                (expected[place].0.as_bytes(), &expected[place].1),
                "seed {seed}, {place}"
            );
            if chance.below(5) == 0 {
                walk.skip_key().unwrap();
                let key = &expected[place].0;
                place += expected[place..].iter().take_while(|(other, _)| other == key).count();
            } else {
                walk.step().unwrap();
                place += 1;
            }
        }
        assert!(walk.current().is_none(), "seed {seed}");
        walk.skip_key().unwrap();
        walk.step().unwrap();
    }
}

#[test]
fn model_a_merged_run_holds_what_its_runs_held() {
    for seed in 0..25 {
        let mut rig = rig(seed);
        let in_runs = walk(&rig.origins[..rig.runs.len()], &rig.files, &KeyBounds::all());
        let merged = merge(&mut rig.store, &mut |_, _, _| true);
        merged.verify().unwrap();
        let keys: BTreeMap<&str, ()> = in_runs.iter().map(|(key, _)| (key.as_str(), ())).collect();
        assert_eq!((merged.entries(), merged.keys()), (in_runs.len() as u64, keys.len() as u64));
        assert!(in_runs.iter().all(|(key, _)| merged.may_hold(key.as_bytes())));
        let files = Arc::clone(&rig.files);
        for (_, row) in &in_runs {
            let Some(body) = Body::of(row) else { continue };
            let content = row.content.unwrap();
            let place = body::find_body(&merged, body.payload, content).unwrap().unwrap();
            let same = in_runs.iter().filter_map(|(_, row)| Body::of(row));
            let mut same =
                same.filter(|other| (other.payload, other.content) == (body.payload, body.content));
            assert!(same.any(|other| other.place == place), "seed {seed}");
            assert!(body::find_payload(&merged, body.payload).unwrap().is_some());
            assert_eq!(body::find_body(&merged, body.payload, ContentKey([9; 16])).unwrap(), None);
        }
        assert_eq!(body::find_payload(&merged, Sha1Digest::from_bytes([77; 20])).unwrap(), None);
        let merged = [Origin::Run(merged)];
        assert_eq!(walk(&merged, &files, &KeyBounds::all()), in_runs, "seed {seed}");
    }
}

#[test]
fn a_merge_leaves_out_rejected_rows_and_their_bodies() {
    let mut rig = rig(3);
    let in_runs = walk(&rig.origins[..rig.runs.len()], &rig.files, &KeyBounds::all());
    let mut keep = |key: &str, row: &mut Row, _: &mut Files| {
        row.sum = 7;
        !key.ends_with("often")
    };
    let merged = merge(&mut rig.store, &mut keep);
    let kept: Sorted = in_runs.into_iter().filter(|(key, _)| !key.ends_with("often")).collect();
    let kept: Sorted = kept.into_iter().map(|(key, row)| (key, Row { sum: 7, ..row })).collect();
    let bodies: Vec<Body> = kept.iter().filter_map(|(_, row)| Body::of(row)).collect();
    for digest in 0..40 {
        for content in 0..7 {
            let payload = Sha1Digest::from_bytes([digest; 20]);
            let place = body::find_body(&merged, payload, ContentKey([content; 16])).unwrap();
            let is_kept =
                |place: Place| bodies.iter().any(|body| body.place == place && body.payload == payload);
            assert!(place.is_none_or(is_kept), "{digest} {content} {place:?}");
        }
    }
    let files = Arc::clone(&rig.files);
    assert_eq!(walk(&[Origin::Run(merged)], &files, &KeyBounds::all()), kept);
}

#[test]
fn model_memory_agrees_with_a_sorted_list() {
    let (files, mut chance) = (files(), Chance::new(4));
    let mut sorted = rows(&mut chance, 500, 0);
    let memory = memory(&sorted, &files);
    let bodies: Vec<Body> = sorted.iter().filter_map(|(_, row)| Body::of(row)).collect();
    for (_, row) in &sorted {
        let (Some(payload), Some(content)) = (row.payload, row.content) else { continue };
        let same = |body: &&Body| (body.payload, body.content) == (payload, tag(content));
        // The last one counts.
        assert_eq!(memory.find_body(payload, tag(content)), bodies.iter().rfind(same).copied());
        let holds = bodies.iter().any(|body| body.payload == payload);
        assert_eq!(memory.find_payload(payload).is_some(), holds);
    }
    sort(&mut sorted, &files);
    assert!(memory.iter().eq(sorted.iter().map(|(key, row)| (key.as_str(), row))));
    assert_eq!(memory.count(), 500);
    for part in sorted.chunk_by(|one, other| one.0 == other.0) {
        assert!(memory.rows_of(&part[0].0).iter().eq(part.iter().map(|(_, row)| row)));
    }
    assert!(memory.rows_of("nobody").is_empty());
}

#[test]
fn detects_any_flipped_bit_of_a_run() {
    let (disk, mut chance) = (SimulatedDisk::new(5), Chance::new(5));
    let mut store = store(&disk);
    let part = memory(&rows(&mut chance, 60, 0), store.names());
    write(&mut store, &part);
    let path = Path::new(DIRECTORY).join("0000000001.run");
    let length = disk.open(&path, Open::Read).unwrap().length().unwrap();
    let is_sound = || {
        let published = PublishedRuns::open(&disk, Path::new(DIRECTORY), &mut files());
        published.is_ok_and(|published| published.runs.iter().all(|run| run.verify().is_ok()))
    };
    assert!(is_sound());
    for bit in (0..length * 8).step_by(if cfg!(debug_assertions) { 7 } else { 1 }) {
        disk.flip_bit(&path, bit).unwrap();
        assert!(!is_sound(), "bit {bit} of {}", length * 8);
        disk.flip_bit(&path, bit).unwrap();
    }
    for cut in [length - 1, length / 2, 40, 1, 0] {
        disk.open(&path, Open::Write).unwrap().truncate(cut).unwrap();
        assert!(!is_sound(), "cut to {cut}");
    }
}

#[test]
fn rows_of_one_key_are_found_from_their_last() {
    let (files, mut chance) = (files(), Chance::new(6));
    let memory = memory(&rows(&mut chance, 200, 0), &files);
    let rows: Rows = memory.to_rows();
    for number in 0..rows.len() {
        let first = rows.first_of_key(number);
        assert!((first..=number).all(|other| rows.key(other) == rows.key(number)));
        assert!(first == 0 || rows.key(first - 1) != rows.key(number));
        assert_eq!(rows.lower_bound(rows.key(number)), first);
    }
}

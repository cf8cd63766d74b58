//! The link graph against a join of everything that the archive holds.

use crate::web::{
    ARCHIVE, SECONDS, START, any_url, import, moment, open_archive, reader, runner, url, visits,
};
use archive::{Key, Reader, Target};
use base::disk::{Disk, Open, SimulatedDisk};
use base::{Chance, Timestamp};
use document::links::{LINKS, LinkGraph, LinkStage};
use document::{DocumentId, Moment};
use html::{Link, LinkKind};
use stage::{Arrival, BodyParser, Lag, Stage as _};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) fn directory() -> PathBuf {
    Path::new("/data").join(LINKS)
}
pub(crate) fn open(disk: &SimulatedDisk) -> LinkStage {
    let (stage, damage) = LinkStage::open(Arc::new(disk.clone()), &directory()).unwrap();
    assert!(damage.is_none(), "{damage:?}");
    stage
}
fn graph(disk: &SimulatedDisk) -> LinkGraph {
    LinkGraph::open(disk, &directory()).unwrap()
}

/// A link in either direction: the page at its other end, the document that has it, its kind, whether it may be
/// followed, its text.
type Found = (String, DocumentId, &'static str, bool, String);

/// All links of all pages as they were, by reading every page that was valid then.
struct Join(BTreeMap<Key, Vec<(DocumentId, String, Vec<Link>)>>);

impl Join {
    fn at(reader: &Reader, at: Timestamp) -> Self {
        let parser = BodyParser { agent: "utsushi".into(), requisites: false };
        let at = Moment::new(at).unwrap();
        let mut pages = BTreeMap::new();
        let keys: std::collections::BTreeSet<Key> =
            reader.all().unwrap().map(|entry| entry.unwrap().key).collect();
        for key in keys {
            let Some(valid) = at.document(reader, &key).unwrap() else { continue };
            let arrival = Arrival::archived(valid.entry.clone(), reader, &parser);
            let Some(page) = arrival.page().unwrap() else { continue };
            let is_link = |link: &&Link| link.kind != LinkKind::Embed && Key::from(link.url.key()) != key;
            let links = page.links.iter().filter(is_link).cloned().collect();
            pages.insert(key, vec![(valid.id, valid.entry.url.clone(), links)]);
        }
        Self(pages)
    }
    fn to(&self, target: &Key) -> Vec<Found> {
        let mut found = Vec::new();
        for (id, url, links) in self.0.values().flatten() {
            for link in links.iter().filter(|link| Key::from(link.url.key()) == *target) {
                found.push((
                    url.clone(),
                    *id,
                    link.kind.as_str(),
                    link.nofollow,
                    link.anchor_text.to_string(),
                ));
            }
        }
        found.sort();
        found
    }
    fn from(&self, page: &Key) -> Vec<Found> {
        let links = self.0.get(page).into_iter().flatten().flat_map(|(id, _, links)| {
            links.iter().map(|link| {
                let url = link.url.as_str().to_owned();
                (url, *id, link.kind.as_str(), link.nofollow, link.anchor_text.to_string())
            })
        });
        links.collect()
    }
}

fn links_to(graph: &LinkGraph, reader: &Reader, target: &Key, at: Timestamp) -> Vec<Found> {
    let links = graph.in_links(target, &Moment::new(at).unwrap(), reader).unwrap();
    let found = links.map(|link| {
        let link = link.unwrap();
        assert!(link.validity.from() <= at && at < link.validity.to());
        (link.url.into(), link.document, link.kind.as_str(), link.nofollow, link.text.into())
    });
    let mut found: Vec<Found> = found.collect();
    assert!(found.is_sorted_by(|one, other| one.0 <= other.0), "by URL");
    found.sort();
    found
}
fn links_from(graph: &LinkGraph, reader: &Reader, page: &Key, at: Timestamp) -> Vec<Found> {
    let Some(valid) = Moment::new(at).unwrap().document(reader, page).unwrap() else { return Vec::new() };
    let Some(links) = graph.out_links(page, valid.id).unwrap() else { return Vec::new() };
    let found = links.map(|link| {
        let link = link.unwrap();
        (link.url.into(), valid.id, link.kind.as_str(), link.nofollow, link.text.into())
    });
    found.collect()
}

/// Compares pages and moments with the join; returns how many links there were.
fn compare(disk: &SimulatedDisk, chance: &mut Chance, pairs: u64) -> usize {
    let (graph, reader, mut count) = (graph(disk), reader(disk), 0);
    for _ in 0..pairs / 10 {
        let at = moment(chance.below(SECONDS + 100));
        let join = Join::at(&reader, at);
        for _ in 0..10 {
            let page = Key::of(&any_url(chance));
            let (to, from) = (join.to(&page), join.from(&page));
            assert_eq!(links_to(&graph, &reader, &page, at), to, "to {page} at {at}");
            assert_eq!(links_from(&graph, &reader, &page, at), from, "from {page} at {at}");
            count += to.len() + from.len();
        }
    }
    count
}

#[test]
fn model_in_links_and_out_links_equal_a_join_at_a_thousand_pairs() {
    let mut count = 0;
    for seed in 0..4 {
        let (disk, mut chance) = (SimulatedDisk::new(seed), Chance::new(seed));
        // The graph follows in portions, so that it has several runs.
        for part in visits(seed, 600).chunks(60) {
            import(&disk, part);
            runner(&disk).commit_every(17).catch_up(&mut [&mut open(&disk)], |_| {}).unwrap();
        }
        assert_eq!(runner(&disk).lag(&open(&disk)).unwrap(), Lag::default());
        count += compare(&disk, &mut chance, 250);
    }
    assert!(count > 5_000, "{count} links were compared");
}

#[test]
fn unchanged_visits_store_nothing() {
    let disk = SimulatedDisk::new(1);
    import(&disk, &visits(1, 300));
    runner(&disk).catch_up(&mut [&mut open(&disk)], |_| {}).unwrap();
    let before = graph(&disk).bytes();
    // The same contents again, later.
    let again: Vec<_> = visits(1, 300);
    import(&disk, &again);
    let runner = runner(&disk);
    runner.catch_up(&mut [&mut open(&disk)], |_| {}).unwrap();
    assert_eq!(graph(&disk).bytes(), before);
    assert_eq!(graph(&disk).checkpoint().cloned(), open(&disk).checkpoint().unwrap());
}

#[test]
fn a_takedown_removes_the_links_of_its_pages_and_keeps_those_of_others() {
    let (disk, mut chance) = (SimulatedDisk::new(3), Chance::new(3));
    import(&disk, &visits(3, 400));
    runner(&disk).catch_up(&mut [&mut open(&disk)], |_| {}).unwrap();
    let target = Target::server("s1.example").unwrap();
    let mut archive = open_archive(&disk);
    archive.takedown(&target, "asked for", START, &mut |_, _| {}).unwrap();
    archive.close().unwrap();
    // Hidden already, before the stage removes it.
    compare(&disk, &mut chance, 50);
    stage::take_down(&mut [&mut open(&disk)], &target).unwrap();
    assert!(compare(&disk, &mut chance, 100) > 100);
    let held = |word: &str| {
        let files = disk.files();
        let runs = files.iter().filter(|(path, _)| path.starts_with(directory()));
        assert!(runs.clone().count() > 0);
        document_rows(&disk).iter().filter(|(url, _)| url.contains(word)).count()
    };
    assert_eq!(held("s1.example"), 0, "no page of it is in the graph");
    assert!(held("s2.example") > 0);
    let to = links_to(&graph(&disk), &reader(&disk), &Key::of(&url(1)), moment(SECONDS));
    assert!(!to.is_empty(), "what others say of it stays with them");
    // A rebuild gives the same.
    runner(&disk).rebuild(&mut [&mut open(&disk)], |_| {}).unwrap();
    compare(&disk, &mut chance, 100);
}

/// Every page that has a link to any page, and the link's text.
fn document_rows(disk: &SimulatedDisk) -> Vec<(String, String)> {
    let (graph, reader) = (graph(disk), reader(disk));
    let mut found = Vec::new();
    for number in 0..60 {
        for seconds in (0..=SECONDS).step_by(500) {
            found.extend(
                links_to(&graph, &reader, &Key::of(&url(number)), moment(seconds))
                    .into_iter()
                    .map(|found| (found.0, found.4)),
            );
        }
    }
    found
}

#[test]
fn a_flipped_bit_is_reported_or_rebuilt_and_never_served() {
    let disk = SimulatedDisk::new(4);
    import(&disk, &visits(4, 150));
    runner(&disk).catch_up(&mut [&mut open(&disk)], |_| {}).unwrap();
    let mut chance = Chance::new(4);
    for path in disk.list(&directory()).unwrap() {
        let length = disk.open(&path, Open::Read).unwrap().length().unwrap();
        for _ in 0..60 {
            let bit = chance.below(length * 8);
            disk.flip_bit(&path, bit).unwrap();
            let sound = LinkGraph::open(&disk, &directory()).and_then(|graph| graph.verify());
            let error = sound.expect_err("the flipped bit is seen");
            assert!(error.is_damage() && error.to_string().contains("utsushi rebuild links"), "{error}");
            disk.flip_bit(&path, bit).unwrap();
        }
    }
    // A writer begins again where it cannot open what is there.
    disk.flip_bit(&directory().join("CURRENT"), 300).unwrap();
    let (mut stage, damage) = LinkStage::open(Arc::new(disk.clone()), &directory()).unwrap();
    assert!(damage.is_some_and(|damage| damage.is_damage()));
    assert_eq!(stage.checkpoint().unwrap(), None);
    runner(&disk).catch_up(&mut [&mut stage], |_| {}).unwrap();
    assert!(compare(&disk, &mut chance, 50) > 50);
    assert!(Path::new(ARCHIVE).starts_with("/data"));
}

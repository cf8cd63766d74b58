//! Our own files. Content is wrapped in right checksums first, so that it reaches the decoders.

use crate::{joined, pieces, texts};
use archive::derived::Facts;
use archive::{Entry, Flag, Key, Location, Stored, Version};
use base::{Period, Sha1Digest, Timestamp};

/// Opens a state store with foreign commits.
pub(crate) fn sat_log(data: &[u8]) {
    pieces(data).for_each(|piece| sat::fuzzing::read_operations(piece.get(4..).unwrap_or_default()));
    sat::fuzzing::open_log(pieces(data).take(4));
}

/// Opens a state store with damaged files.
pub(crate) fn sat_files(data: &[u8]) {
    sat::fuzzing::open_damaged(pieces(data).take(4));
}

/// Reads a block of rows of the index.
pub(crate) fn rows(data: &[u8]) {
    archive::fuzzing::read_rows(data);
}

/// Opens a run of the index: first its tables, then its blocks.
pub(crate) fn run(data: &[u8]) {
    let mut pieces = pieces(data);
    let tables = pieces.next().unwrap_or_default();
    archive::fuzzing::read_run(tables, &pieces.collect::<Vec<_>>());
}

/// Reads the checksums of an archive file.
pub(crate) fn sums(data: &[u8]) {
    archive::fuzzing::read_sums(pieces(data));
}

/// Reads what is known of the captures of an archive file.
pub(crate) fn derived(data: &[u8]) {
    archive::fuzzing::read_derived(pieces(data));
    if let Some(facts) = Facts::from_bytes(data) {
        // Long words and titles are cut when they are written.
        let cut = Facts::from_bytes(&facts.to_bytes()).expect("it is ours");
        assert_eq!(Facts::from_bytes(&cut.to_bytes()), Some(cut));
    }
}

/// Reads the description of an index.
pub(crate) fn generation(data: &[u8]) {
    archive::fuzzing::read_generation(&String::from_utf8_lossy(data));
}

/// Reads a note of a takedown.
pub(crate) fn takedown(data: &[u8]) {
    archive::fuzzing::read_takedown(data);
}

/// Reads a version that was put aside for a while.
pub(crate) fn version(data: &[u8]) {
    let _ = Version::beside(data);
    if let Some((version, beside)) = Version::from_bytes(data) {
        assert_eq!(Version::from_bytes(&version.to_bytes(&beside)), Some((version, beside)));
    }
}

/// Reads the state of a page.
pub(crate) fn frontier_page(data: &[u8]) {
    frontier::fuzzing::read_page(data);
}

/// Reads what is kept of a server.
pub(crate) fn frontier_server(data: &[u8]) {
    frontier::fuzzing::read_server(data);
    frontier::fuzzing::read_shapes(data);
}

pub(crate) fn sat_log_seeds() -> Vec<Vec<u8>> {
    let commit = sat::fuzzing::some_commit();
    vec![joined([&commit]), joined([&commit, &commit]), joined([[0; 4]])]
}

pub(crate) fn sat_files_seeds() -> Vec<Vec<u8>> {
    let damages = [[0, 8, 0, 1], [1, 0, 16, 0], [2, 0, 16, 1], [3, 40, 0, 9], [4, 0, 0, 7]];
    damages.map(|damage| joined([damage])).into()
}

pub(crate) fn rows_seeds() -> Vec<Vec<u8>> {
    vec![archive::fuzzing::some_rows().0]
}

pub(crate) fn run_seeds() -> Vec<Vec<u8>> {
    let (rows, bodies) = (archive::fuzzing::some_rows().0, vec![0; 44]);
    let tables = archive::fuzzing::tables_for(&[&rows, &bodies]);
    vec![joined([&tables, &rows, &bodies]), joined([&vec![], &rows, &rows, &bodies])]
}

pub(crate) fn sums_seeds() -> Vec<Vec<u8>> {
    let frame = archive::fuzzing::some_rows().1;
    vec![joined([&frame[..], &[2, 100]]), joined([&[1, 0, 0, 0, 0, 0][..], &[2, 0]])]
}

pub(crate) fn derived_seeds() -> Vec<Vec<u8>> {
    let facts = Facts {
        language: Some("ja".into()),
        media_type: Some("text/html".into()),
        title: Some("写し".to_owned()),
        text: Some(7),
        main_text: Some(8),
        charset: Some(("shift_jis".into(), "header".into())),
    };
    let frame = [&[0, 200, 1, 2, 1][..], &facts.to_bytes(), &[99], &Facts::default().to_bytes()].concat();
    let frame = [&frame[..1], &[0xc8, 1][..], &[2, 0], &frame[5..]].concat();
    vec![joined([&frame]), facts.to_bytes()]
}

pub(crate) fn generation_seeds() -> Vec<Vec<u8>> {
    texts(&["utsushi-index 1\ngeneration 7\nnext-run 4\nrun 3 level 1\nrun 2 level 0\ncovers a.warc.gz\n"])
}

pub(crate) fn takedown_seeds() -> Vec<Vec<u8>> {
    texts(&[
        "utsushi-takedown 1\nwhat url\nscope http://a.example/\nreason asked\npart 1 of 1\n\
         group utsushi-20261115231600123456-00000.warc.gz 0 100\n",
        "utsushi-takedown 1\nwhat server\nscope a.example\ndone 1800000000000000-0\n",
    ])
}

pub(crate) fn version_seeds() -> Vec<Vec<u8>> {
    let at = Timestamp::from_seconds(1_800_000_000).expect("that is a date");
    let url = "https://a.example/写し".to_owned();
    let payload = Entry {
        key: Key::of(&url),
        url,
        at,
        kind: Stored::Response,
        flag: Flag::ALL[0],
        status: Some(200),
        media_type: "text/html".into(),
        payload: Some(Sha1Digest::of(&[b"x"])),
        content: None,
        truncated: false,
        moves_within: false,
        group_bytes: 120,
        location: Location {
            file: "utsushi-20261115231600123456-00000.warc.gz".into(),
            offset: 7,
            length: 100,
        },
        body: None,
        sum: 9,
    };
    let validity = Period::new(at, Timestamp::MAX).expect("it is in order");
    let version = Version { validity, payload, is_error: false, ended_by_gone: false, is_first: Some(true) };
    vec![version.to_bytes(&scan::beside(&version, &Facts::default())), version.to_bytes(b"")]
}

pub(crate) fn frontier_seeds() -> Vec<Vec<u8>> {
    let page = b"\x11http://a.example/";
    let visited = [&[2][..], page, &[0, 0, 0, 0, 1, 0], &[9, 0, 0, 9, 0, 0xc8, 1, 9], &[1; 120]].concat();
    let new = [&[2][..], page, &[0; 30]].concat();
    let old = [&[1][..], page, &[0, 2, 0, 0, 1, 0], &[9, 0, 0, 9, 0, 0xc8, 1, 9], &[3; 60]].concat();
    vec![visited, new, old, vec![1; 200], vec![2; 200]]
}

//! `--only-changed`: what differs between two moments, as it is at the second (D14).

use super::rig::{Corpus, results};
use crate::program::run;

#[test]
fn only_pages_whose_content_differs_are_analysed_as_they_are_at_the_end() {
    let mut corpus = Corpus::new();
    let gone = ["HTTP/1.1 404 Not Found", "Content-Type: text/html"];
    let at = |day: u32| format!("2026-03-{day:02}T00:00:00Z");
    let page = |name: &str| format!("http://pages.test/{name}");
    corpus
        .page(&page("same"), &at(1), "same")
        .page(&page("seen-again"), &at(1), "again")
        .page(&page("seen-again"), &at(12), "again")
        .page(&page("changed"), &at(1), "before")
        .page(&page("changed"), &at(11), "between")
        .page(&page("changed"), &at(12), "after")
        .page(&page("changed"), &at(25), "later")
        .page(&page("back"), &at(1), "back")
        .page(&page("back"), &at(11), "other")
        .page(&page("back"), &at(13), "back")
        .page(&page("new"), &at(14), "new")
        .page(&page("brief"), &at(14), "brief")
        .answer(&page("brief"), &at(15), &gone, "gone")
        .page(&page("vanished"), &at(1), "vanished")
        .answer(&page("vanished"), &at(15), &gone, "gone")
        .page(&page("returned"), &at(1), "returned")
        .answer(&page("returned"), &at(5), &gone, "gone")
        .page(&page("returned"), &at(15), "returned")
        .page(&page("too-late"), &at(25), "too late")
        // Another page had this content before.
        .page(&page("copy"), &at(14), "same");
    let rig = corpus.import();
    let scanned = |during: &str| {
        let flags = ["--during", during, "--only-changed", "--jobs", "2", "--each", "--", "cat"];
        let ended = run(&mut rig.scan_of(&flags));
        let found = results(&ended.stdout).into_iter();
        let name = |url: String| url.rsplit_once('/').unwrap().1.to_owned();
        let found: Vec<_> =
            found.map(|(url, said)| format!("{}: {}", name(url), said.as_str().unwrap())).collect();
        assert_eq!(ended.code, Some(i32::from(found.is_empty())), "{ended:?}");
        found
    };
    assert_eq!(
        scanned("2026-03-10..2026-03-20"),
        ["changed: after", "copy: same", "new: new", "returned: returned"]
    );
    assert_eq!(scanned("2026-03-11T12:00:00Z..2026-03-11T18:00:00Z"), Vec::<String>::new());
    assert_eq!(scanned("2026-03-11T12:00:00Z..2026-03-13T12:00:00Z"), ["back: back", "changed: after"]);
    assert_eq!(scanned("2026-03-20.."), ["changed: later", "too-late: too late"]);
    assert_eq!(scanned("..2026-03-02").len(), 6, "at the beginning of time there was nothing");
}

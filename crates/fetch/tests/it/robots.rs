//! Google's published facts about robots files, 145 of them.

use flate2::read::GzDecoder;
use robots::RobotsRules;
use serde_json::Value;
use std::io::Read;
use std::path::PathBuf;

fn facts() -> Option<Vec<Value>> {
    let path = PathBuf::from(std::env::var_os("UTSUSHI_SHARED")?).join("data/suites/robots.jsonl.gz");
    let file = std::fs::File::open(&path)
        .unwrap_or_else(|error| panic!("cannot open `{}`: {error}", path.display()));
    let mut text = String::new();
    GzDecoder::new(file).take(16 << 20).read_to_string(&mut text).unwrap();
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// Path and query as they are written, not as a URL parser would rewrite them.
fn target(url: &str) -> &str {
    let behind_scheme = url.find("://").map_or(0, |at| at + 3);
    url[behind_scheme..].find('/').map_or("/", |at| &url[behind_scheme + at..])
}

#[test]
fn all_145_facts_hold_in_the_literal_reading_and_in_both_together() {
    let Some(facts) = facts() else {
        // Not by `eprintln!`, whose output is shown only for failed tests.
        let notice = "NOT TESTED: the robots facts, for `UTSUSHI_SHARED` does not say where they are\n";
        std::io::Write::write_all(&mut std::io::stderr(), notice.as_bytes()).unwrap();
        return;
    };
    assert_eq!(facts.len(), 145);
    for fact in &facts {
        let text = |name: &str| fact[name].as_str().unwrap();
        let rules = RobotsRules::for_agent(text("robots").as_bytes(), text("agent"));
        let target = target(text("url"));
        let expected = fact["allowed"].as_bool().unwrap();
        assert_eq!(rules.judge_literal(target).allowed, expected, "{fact}");
        assert_eq!(rules.judge(target).allowed, expected, "{fact}");
    }
}

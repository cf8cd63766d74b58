//! The 4,231 real robots files of the `protego` package: none makes us panic, and on hundreds of thousands of questions
//! we and Protego agree, but for differences of which each has its reason.
//!
//! `UTSUSHI_SAMPLES` names the directory with the package, `UTSUSHI_PYTHON` a Python that has Protego.

use base::PageUrl;
use base::limits::ROBOTS_BYTES_MAX;
use robots::RobotsRules;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const FILES: usize = 4_231;
const QUESTIONS: u64 = 457_526;
/// As many targets and agents are taken from one file.
const TARGETS_MAX: usize = 120;
const AGENTS_MAX: usize = 4;
/// Shorter names are what is left of others, such as of `W3C-checklink`, and Protego takes those of one letter for `*`.
const AGENT_BYTES_MIN: usize = 3;

fn corpus() -> Option<Vec<PathBuf>> {
    let samples = PathBuf::from(std::env::var_os("UTSUSHI_SAMPLES")?);
    let package = std::fs::read_dir(&samples).unwrap().map(|entry| entry.unwrap().path());
    let package = package.into_iter().find(|path| {
        path.is_dir() && path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("protego-"))
    });
    let directory = package.expect("the samples hold the protego package").join("tests/test_data");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    Some(files)
}

/// An agent, and what it would like to have.
type Ask = (String, String);

/// Protego in a process of its own.
struct Peer {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Peer {
    fn start() -> Option<Self> {
        let python = std::env::var_os("UTSUSHI_PYTHON")?;
        let mut command = Command::new(python);
        command.args(["-c", include_str!("protego.py")]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let questions = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        Some(Self { child, questions, answers })
    }
    fn ask(&mut self, text: &str, asks: &[Ask], explain: bool) -> Value {
        let question = json!({ "text": text, "asks": asks, "explain": explain });
        writeln!(self.questions, "{question}").unwrap();
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).expect("Protego answers")
    }
    fn allows(&mut self, text: &str, asks: &[Ask]) -> Vec<bool> {
        self.ask(text, asks, false).as_str().unwrap().bytes().map(|byte| byte == b'1').collect()
    }
    fn end(mut self) {
        drop(self.questions);
        assert!(self.child.wait().unwrap().success());
    }
}

/// What a file is asked about: agents it names and one it does not, targets made from its own rules.
fn questions(text: &str) -> Vec<Ask> {
    let values = |names: &[&str]| -> BTreeSet<String> {
        let lines = text.lines().filter_map(|line| line.split('#').next()?.split_once(':'));
        let lines = lines.filter(|(name, _)| names.contains(&name.trim().to_ascii_lowercase().as_str()));
        lines.map(|(_, value)| value.trim().to_owned()).filter(|value| !value.is_empty()).collect()
    };
    let agents: BTreeSet<String> = values(&["user-agent"]).iter().map(|value| token(value)).collect();
    let agents =
        spread(agents.into_iter().filter(|agent| agent.len() >= AGENT_BYTES_MIN).collect(), AGENTS_MAX - 1);
    let agents: Vec<String> = agents.into_iter().chain(["utsushi".to_owned()]).collect();
    let targets: BTreeSet<String> =
        values(&["disallow", "allow"]).iter().flat_map(|value| targets(value)).collect();
    let targets = spread(targets.into_iter().collect(), TARGETS_MAX);
    let asks =
        |agent: &String| targets.iter().map(|target| (agent.clone(), target.clone())).collect::<Vec<_>>();
    agents.iter().flat_map(asks).collect()
}

fn token(value: &str) -> String {
    let is_token = |c: &char| c.is_ascii_alphabetic() || matches!(c, '-' | '_');
    value.chars().take_while(is_token).collect::<String>().to_ascii_lowercase()
}

/// Targets that a pattern matches, and such as it nearly matches, as a page's URL writes them.
fn targets(pattern: &str) -> Vec<String> {
    let bare = pattern.strip_suffix('$').unwrap_or(pattern);
    let shorter = bare.char_indices().next_back().map_or("", |(at, _)| bare.get(..at).unwrap());
    let filled =
        [bare.replace('*', ""), bare.replace('*', "x/y.html"), shorter.replace('*', "q"), bare.to_owned()];
    let grown = filled.iter().flat_map(|target| ["", "x", "/a?b=c"].map(|end| format!("{target}{end}")));
    let page = |target: String| {
        let slash = if target.starts_with('/') { "" } else { "/" };
        let url = PageUrl::parse(&format!("http://h.example{slash}{target}")).ok()?;
        Some(url.target().to_owned())
    };
    grown.filter_map(page).collect()
}

/// At most `most` of them, evenly spread.
fn spread(all: Vec<String>, most: usize) -> Vec<String> {
    let step = all.len().div_ceil(most).max(1);
    all.into_iter().step_by(step).collect()
}

/// What we say of each; those of one agent come together.
fn ours(bytes: &[u8], asks: &[Ask]) -> Vec<bool> {
    let of_agent = |asks: &[Ask]| {
        let rules = RobotsRules::for_agent(bytes, &asks[0].0);
        asks.iter().map(|(_, target)| rules.judge(target).allowed).collect::<Vec<_>>()
    };
    asks.chunk_by(|one, next| one.0 == next.0).flat_map(of_agent).collect()
}

/// A reason for differences: a change to the file after which it no longer plays a part, and how many it explains.
struct Reason {
    name: &'static str,
    without: fn(&str) -> String,
    explains: u64,
}

/// Why we and Protego differ; docs/reference/robots.md says why we read it so. A difference has the first reason whose
/// change, made on top of those before it, ends it.
const REASONS: &[Reason] = &[
    Reason { name: "names", without: with_plain_names, explains: 7_122 },
    Reason { name: "groups", without: without_other_lines, explains: 3_362 },
    Reason { name: "whole URLs", without: without_whole_urls, explains: 381 },
    Reason { name: "white space", without: with_plain_space, explains: 12 },
    Reason { name: "index pages", without: without_index_pages, explains: 1 },
];
/// The reason that no change to a file can show: Protego weighs a pattern with its special characters escaped.
const WEIGHT: (&str, u64) = ("weight", 14);

fn name_and_value(line: &str) -> Option<(String, &str)> {
    let (name, value) = line.split('#').next()?.split_once(':')?;
    Some((name.trim().to_ascii_lowercase(), value.trim()))
}

fn lines(text: &str, change: impl Fn(&str) -> Option<String>) -> String {
    let changed = text.split(['\n', '\r']).filter_map(change);
    changed.collect::<Vec<_>>().join("\n")
}

fn with_plain_names(text: &str) -> String {
    lines(text, |line| {
        let is_name =
            |(name, _): &(String, &str)| matches!(name.as_str(), "user-agent" | "useragent" | "user agent");
        let Some((_, value)) = name_and_value(line).filter(is_name) else { return Some(line.to_owned()) };
        Some(format!("User-agent: {}", if value.starts_with('*') { "*".to_owned() } else { token(value) }))
    })
}

fn without_other_lines(text: &str) -> String {
    let known = ["user-agent", "useragent", "user agent", "allow", "disallow"];
    lines(text, |line| match name_and_value(line) {
        Some((name, _)) if !known.contains(&name.as_str()) => None,
        _ => Some(line.to_owned()),
    })
}

fn without_rules(text: &str, leave: impl Fn(&str, &str) -> bool) -> String {
    lines(text, |line| {
        name_and_value(line).is_none_or(|(name, value)| !leave(&name, value)).then(|| line.to_owned())
    })
}

fn without_whole_urls(text: &str) -> String {
    without_rules(text, |_, value| value.starts_with("http://") || value.starts_with("https://"))
}

fn with_plain_space(text: &str) -> String {
    let broken = text
        .replace(['\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}', '\u{2029}'], "\n");
    lines(&broken, |line| Some(line.trim().replace(|c: char| c.is_whitespace(), " ")))
}

fn without_index_pages(text: &str) -> String {
    without_rules(text, |name, value| name == "allow" && value.contains("/index.htm"))
}

#[test]
fn real_robots_files_are_read_as_protego_reads_them_but_for_known_reasons() {
    let (Some(files), Some(mut peer)) = (corpus(), Peer::start()) else {
        let notice = "NOT TESTED: robots files of the protego package, for `UTSUSHI_SAMPLES` or `UTSUSHI_PYTHON` is not set\n";
        std::io::stderr().write_all(notice.as_bytes()).unwrap();
        return;
    };
    assert_eq!(files.len(), FILES);
    let mut tally = Tally::default();
    files.iter().for_each(|path| tally.file(&mut peer, path));
    peer.end();
    let Tally { asked, counts, unexplained } = tally;
    assert!(unexplained.is_empty(), "{} without a reason:\n{}", unexplained.len(), unexplained.join("\n"));
    let expected = REASONS.iter().map(|reason| (reason.name, reason.explains)).chain([WEIGHT]);
    assert_eq!(counts, expected.collect(), "of {asked} questions");
    assert_eq!(asked, QUESTIONS);
}

/// What came of the questions.
#[derive(Default)]
struct Tally {
    asked: u64,
    counts: BTreeMap<&'static str, u64>,
    unexplained: Vec<String>,
}

impl Tally {
    fn file(&mut self, peer: &mut Peer, path: &Path) {
        let bytes = std::fs::read(path).unwrap();
        let mut text = text_of(&bytes);
        let asks = questions(&text);
        self.asked += asks.len() as u64;
        let mut left = differing(peer, &bytes, &text, asks);
        for reason in REASONS {
            let changed = (reason.without)(&text);
            if !left.is_empty() && changed != text {
                let before = left.len();
                left = differing(peer, changed.as_bytes(), &changed, left);
                *self.counts.entry(reason.name).or_default() += (before - left.len()) as u64;
                text = changed;
            }
        }
        if !left.is_empty() {
            self.weigh(peer, path, &text, &left);
        }
    }

    /// What is left must differ by weight.
    fn weigh(&mut self, peer: &mut Peer, path: &Path, text: &str, left: &[Ask]) {
        let theirs = peer.ask(text, left, true);
        for ((agent, target), theirs) in left.iter().zip(theirs.as_array().unwrap()) {
            let rules = RobotsRules::for_agent(text.as_bytes(), agent);
            if rules.judge(target).line.is_some_and(|ours| weighs_more(&ours.text, theirs)) {
                *self.counts.entry(WEIGHT.0).or_default() += 1;
            } else {
                self.unexplained.push(format!("{} {agent} {target} {theirs}", path.display()));
            }
        }
    }
}

/// Whether the line that decides for us weighs more than the rule that decides for Protego, taken without the escapes
/// that Protego adds.
fn weighs_more(ours: &str, theirs: &Value) -> bool {
    let (Some((name, ours)), Some(field), Some(escaped)) =
        (name_and_value(ours), theirs[1].as_str(), theirs[2].as_str())
    else {
        return false;
    };
    let plain = escaped.len() - 2 * escaped.matches('%').count();
    plain < escaped.len() && (ours.len(), name == "allow") > (plain, field == "allow")
}

/// The part of a file that is read, as text: a cut line is left out.
fn text_of(bytes: &[u8]) -> String {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let read = match bytes.get(..ROBOTS_BYTES_MAX) {
        Some(cut) => cut.rsplitn(2, |byte| *byte == b'\n').nth(1).unwrap_or_default(),
        None => bytes,
    };
    String::from_utf8_lossy(read).into_owned()
}

/// Those on which we and Protego differ.
fn differing(peer: &mut Peer, bytes: &[u8], text: &str, asks: Vec<Ask>) -> Vec<Ask> {
    let theirs = peer.allows(text, &asks);
    let both = ours(bytes, &asks).into_iter().zip(theirs);
    asks.into_iter().zip(both).filter(|(_, (ours, theirs))| ours != theirs).map(|(ask, _)| ask).collect()
}

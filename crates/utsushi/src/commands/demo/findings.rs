//! What the archive holds of this run, read back from its files and compared with the truth.

use archive::{Entry, Flag, Location};
use base::disk::RealDisk;
use base::{PageUrl, Period, Timestamp};
use sim::Web;
use sim::change::ChangeProcess;
use std::collections::HashMap;
use std::path::PathBuf;

/// How many pages are considered for the one that is shown.
const CANDIDATES_MAX: usize = 100;

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// Records that were read back.
    pub(super) records: u64,
    /// Records that cannot be read.
    pub(super) damaged: u64,
    /// The page that was seen to change most often.
    pub(super) page: Option<PageLife>,
}

/// The life of one page as it was seen, and as it was.
#[derive(Debug)]
pub(super) struct PageLife {
    /// Its URL.
    pub(super) url: PageUrl,
    /// How it changes, by the web's own account.
    pub(super) process: String,
    /// Its visits, the oldest first.
    pub(super) visits: Vec<Entry>,
    /// When the versions are valid that visits began, by where they are stored.
    pub(super) validity: HashMap<Location, Period>,
    /// When it really changed between the first and the last of them.
    pub(super) changes: Vec<Timestamp>,
}

/// Reads back the files of this run. Damage is counted, not hidden.
pub(super) fn read(files: Vec<PathBuf>, web: &Web, now: Timestamp) -> Findings {
    let mut lives: HashMap<PageUrl, Vec<Entry>> = HashMap::new();
    let mut findings = Findings::default();
    for entry in archive::list_files(&RealDisk, files) {
        let Ok(entry) = entry else {
            findings.damaged += 1;
            continue;
        };
        // What the archive notes of itself is no capture.
        if !entry.is_visit() {
            continue;
        }
        findings.records += 1;
        if let Ok(url) = PageUrl::parse(&entry.url) {
            lives.entry(url).or_default().push(entry);
        }
    }
    let mut lives: Vec<_> = lives.into_iter().collect();
    lives.sort_by(|a, b| interest(b).cmp(&interest(a)));
    findings.page = most_telling(lives, web, now);
    findings
}

/// Of the pages with the most versions one whose text changes, if there is one: adverts tell no story.
fn most_telling(lives: Vec<(PageUrl, Vec<Entry>)>, web: &Web, now: Timestamp) -> Option<PageLife> {
    let mut first = None;
    for (url, visits) in lives.into_iter().take(CANDIDATES_MAX) {
        let Some((process, life)) = life(url, visits, web, now) else { continue };
        if !matches!(process, ChangeProcess::AdvertOnly { .. } | ChangeProcess::Never)
            && life.visits.len() > 1
        {
            return Some(life);
        }
        first = first.or(Some(life));
    }
    first
}

/// Pages with several versions first, then those with more visits; the name decides between equals.
fn interest((url, visits): &(PageUrl, Vec<Entry>)) -> (usize, usize, std::cmp::Reverse<&str>) {
    let versions =
        visits.iter().filter(|entry| entry.flag == Flag::Changed && entry.status == Some(200)).count();
    let versions = if url.path() == "/robots.txt" { 0 } else { versions };
    (versions, visits.len(), std::cmp::Reverse(url.as_str()))
}

fn life(url: PageUrl, visits: Vec<Entry>, web: &Web, now: Timestamp) -> Option<(ChangeProcess, PageLife)> {
    let first = visits.first()?.at;
    let truth = web.truth(&url, first, now)?;
    let last = visits.last()?.at;
    let changes = truth.byte_changes.iter().copied().filter(|at| *at <= last).collect();
    let (process, validity) = (in_words(truth.process), HashMap::new());
    let life = PageLife { process, url, visits, validity, changes };
    Some((truth.process, life))
}

fn in_words(process: ChangeProcess) -> String {
    match process {
        ChangeProcess::Poisson { mean } => format!("it changes at random, every {mean} on average"),
        ChangeProcess::Periodic { every } => format!("it changes every {every}"),
        ChangeProcess::Bursty { mean } => format!("it changes in bursts, every {mean} on average"),
        ChangeProcess::Never => "its text never changes".to_owned(),
        ChangeProcess::AdvertOnly { mean } => format!("only its adverts change, every {mean} on average"),
    }
}

//! The archive of this run, read back from its files and compared with the ground truth.

use archive::{Entry, Flag, Location};
use base::disk::RealDisk;
use base::{PageUrl, Period, Timestamp};
use sim::Web;
use sim::change::ChangeProcess;
use std::collections::HashMap;
use std::path::PathBuf;

/// The maximum number of candidates for the page that is shown.
const CANDIDATES_MAX: usize = 100;

/// The findings.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// Records that were read back.
    pub(super) records: u64,
    /// Records that cannot be read.
    pub(super) damaged: u64,
    /// The page with the most observed changes.
    pub(super) page: Option<PageLife>,
}

/// The history of one page as observed, and the ground truth.
#[derive(Debug)]
pub(super) struct PageLife {
    /// Its URL.
    pub(super) url: PageUrl,
    /// How it changes, by the ground truth.
    pub(super) process: String,
    /// Its visits, the oldest first.
    pub(super) visits: Vec<Entry>,
    /// The validity of the versions that visits started, by location.
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
        // The archive's own notes are not captures.
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

/// Of the pages with the most versions one whose text changes, if possible: changing adverts are less interesting.
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

/// Pages with several versions first, then those with more visits; ties are broken by name.
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

//! An analysis over everything that is valid at the end of the run: the languages of the web.

use anyhow::Context as _;
use archive::derived::Facts;
use archive::{Choice, Reader, SortOrder, Sorter};
use base::Timestamp;
use base::disk::RealDisk;
use scan::analyses::Analysis;
use scan::{
    AnalysisAnswer, AnalysisCommand, Confinement, DocumentResult, Error, Job, ProgramLimits, ScanProgress,
    ScanRow, Settings, SupplyMode,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The results of the analysis.
#[derive(Debug, Default)]
pub(super) struct Scanned {
    /// Documents that were analysed.
    pub(super) documents: u64,
    /// How long it took.
    pub(super) seconds: f64,
    /// The number of workers.
    pub(super) workers: usize,
    /// The number of documents per language, largest first; an unknown language has no name.
    pub(super) languages: Vec<(String, u64)>,
}

/// The memory for sorting the list: a demo's web is small.
const SORT_BYTES: usize = 8 * 1024 * 1024;

/// Analyses every version that is valid at `at`.
pub(super) fn look(archive: &Path, at: Timestamp) -> anyhow::Result<Scanned> {
    let reader = Reader::open(Arc::new(RealDisk), archive)?;
    let place = tempfile::tempdir().context("cannot create a directory for the analysis")?;
    let (job, done) = Job::open(place.path(), ("demo", true), |list| {
        let mut sorter = Sorter::new(SortOrder::Address, place.path(), SORT_BYTES);
        let choice = Choice::as_of(at).map_err(|error| Error::Sink(Box::new(error)))?;
        for version in reader.snapshot(&choice)? {
            let version = version?;
            if &*version.payload.media_type == "text/html" {
                sorter.push_with(&version, &scan::beside(&version, &Facts::default()))?;
            }
        }
        for version in sorter.finish_encoded()? {
            list.push(&version?)?;
        }
        Ok(())
    })?;
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let settings = Settings {
        work: AnalysisCommand::Builtin(Analysis::Language),
        jobs,
        supply: SupplyMode::Pipelined,
        limits: ProgramLimits::default(),
        // It is our own code; a demo should also run on a kernel without a sandbox.
        confinement: Confinement { is_lifted: true, ..Confinement::default() },
        restart_every: u64::MAX,
        strikes_max: 1,
        executable: "/proc/self/exe".into(),
        scratch: job.scratch(),
    };
    let mut counts = Counts::default();
    let summary =
        scan::run(&settings, (&reader, &job.pointers(), &done), &job.quarantine(), &mut counts, &|| false)?;
    let mut languages: Vec<(String, u64)> = counts.0.into_iter().collect();
    languages.sort_by(|(one, few), (other, many)| many.cmp(few).then(one.cmp(other)));
    Ok(Scanned { documents: summary.answered, seconds: summary.trace.seconds, workers: jobs, languages })
}

/// Counts languages.
#[derive(Default)]
struct Counts(BTreeMap<String, u64>);

impl scan::ResultSink for Counts {
    fn settled(&mut self, row: ScanRow) -> Result<(), Error> {
        if let DocumentResult::Answered(AnalysisAnswer::Json(language)) = row.result {
            let language = language.trim_matches('"');
            let language = if language == "null" { "" } else { language };
            *self.0.entry(language.to_owned()).or_default() += 1;
        }
        Ok(())
    }
    fn tick(&mut self, _: &ScanProgress) -> Result<(), Error> {
        Ok(())
    }
}

//! What comes from a worker: answers and failures, and what the dispatcher makes of them.

use super::{Event, Live, Shared};
use crate::dispatch::Outcome;
use crate::error::Error;
use crate::journal::{DocumentResult, ScanRow};
use crate::wire::{self, AnalysisFailure, FailureCause, Parcel, Report};
use std::io::{self, Read as _};
use std::process::ChildStdout;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

/// So much is read from a worker at once.
const READ_BYTES: usize = 256 * 1024;

/// Hears what a worker reports.
pub(super) struct Hearer<'a, 'e> {
    pub(super) shared: &'a Shared<'a>,
    pub(super) seat: usize,
    pub(super) events: &'e SyncSender<Event>,
    pub(super) has_spoken: bool,
    pub(super) busy_before: f64,
}

/// Rows and the documents of those that were set aside.
type Rows = Vec<(ScanRow, Option<Arc<Parcel>>)>;

impl Hearer<'_, '_> {
    pub(super) fn hear(&mut self, mut output: ChildStdout) {
        let (mut buffer, mut filled) = (vec![0; READ_BYTES], 0);
        loop {
            let Some(room) = buffer.get_mut(filled..) else { return };
            match output.read(room) {
                Ok(0) => return,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return,
            }
            let Some(taken) = self.take(buffer.get(..filled).unwrap_or_default()) else { return };
            buffer.copy_within(taken..filled, 0);
            filled -= taken;
            let wanted = wire::wanted(buffer.get(..filled).unwrap_or_default()).unwrap_or(0).max(READ_BYTES);
            if wanted > wire::MESSAGE_BYTES_MAX {
                return;
            }
            buffer.resize(wanted.max(filled), 0);
            buffer.shrink_to(wanted);
        }
    }

    /// Takes all whole messages and says how many bytes they were; nothing when that is no report.
    fn take(&mut self, bytes: &[u8]) -> Option<usize> {
        let (mut taken, mut reports) = (0, Vec::new());
        while let Some((message, length)) = wire::split(bytes.get(taken..)?).ok()? {
            reports.push(Report::read(message)?);
            taken += length;
        }
        if !reports.is_empty() {
            self.has_spoken = true;
            let rows = self.learn(reports);
            if !rows.is_empty() && self.events.send(Event::Rows(rows)).is_err() {
                return None;
            }
        }
        Some(taken)
    }

    fn learn(&self, reports: Vec<Report>) -> Rows {
        let (mut rows, mut answers) = (Vec::new(), 0);
        let now = self.shared.now();
        let mut live = self.shared.lock();
        live.heard.iter_mut().skip(self.seat).take(1).for_each(|heard| *heard = now);
        let mut concerns_all = !live.dispatch.has_answered();
        for report in reports {
            concerns_all |= matches!(report, Report::Died { .. } | Report::Broken(_));
            match report {
                Report::Answered(number, answer) => {
                    live.dispatch.trust();
                    answers += 1;
                    let parcel = live.dispatch.settle(self.seat, number);
                    rows.extend(parcel.map(|parcel| (answered(parcel, answer), None)));
                }
                Report::Unfit(number, what) => {
                    let failure = AnalysisFailure { cause: FailureCause::Unfit, what, words: String::new() };
                    let parcel = live.dispatch.settle(self.seat, number);
                    rows.extend(
                        parcel
                            .map(|parcel| (row(&parcel, DocumentResult::Quarantined(failure)), Some(parcel))),
                    );
                }
                Report::Died { failure, suspects } => {
                    live.failures += 1;
                    let first = suspects.first().and_then(|number| live.dispatch.url_of(self.seat, *number));
                    let outcome = live.dispatch.failed(self.seat, &failure, &suspects);
                    settle_failed(&mut live, outcome, &failure, first, &mut rows);
                }
                Report::Busy(micros) => {
                    let busy = self.busy_before + Duration::from_micros(micros).as_secs_f64();
                    live.lanes.iter_mut().skip(self.seat).take(1).for_each(|lane| lane.busy_seconds = busy);
                }
                Report::Broken(why) => {
                    live.failure.get_or_insert(Error::Workers(why));
                    live.is_over = true;
                }
            }
        }
        live.dispatch.pace(self.seat, answers, now);
        // What the others wait for is the first answer, a document that must be tried alone, or the end.
        if concerns_all || live.dispatch.is_done() {
            self.shared.ring_all(&live);
        } else {
            self.shared.ring(self.seat, &live);
        }
        let settled = rows.len() as u64;
        if let Some(lane) = live.lanes.get_mut(self.seat).filter(|_| settled > 0) {
            lane.documents += settled;
            lane.finished = now.as_secs_f64();
        }
        rows
    }

    pub(super) fn is_done(&self) -> bool {
        self.shared.lock().dispatch.is_done()
    }

    /// The worker ended though there was more to do.
    pub(super) fn worker_ended(&self, failure: &AnalysisFailure, is_guilty: bool) {
        let mut rows = Vec::new();
        {
            let mut live = self.shared.lock();
            live.worker_deaths += 1;
            let first = live.dispatch.first_url(self.seat);
            let outcome = live.dispatch.ended(self.seat, is_guilty);
            settle_failed(&mut live, outcome, failure, first, &mut rows);
            self.shared.ring_all(&live);
        }
        if !rows.is_empty() {
            let _ = self.events.send(Event::Rows(rows));
        }
    }
}

fn settle_failed(
    live: &mut Live,
    outcome: Outcome,
    failure: &AnalysisFailure,
    first: Option<String>,
    rows: &mut Rows,
) {
    match outcome {
        Outcome::Quarantined(parcels) => {
            rows.extend(
                parcels
                    .into_iter()
                    .map(|parcel| (row(&parcel, DocumentResult::Quarantined(failure.clone())), Some(parcel))),
            );
        }
        Outcome::Hopeless => {
            let url = first.unwrap_or_default();
            live.failure.get_or_insert(Error::NeverAnswered { url, failure: failure.clone() });
            live.is_over = true;
        }
        Outcome::Barren(parcels) => {
            settle_failed(live, Outcome::Quarantined(parcels), failure, None, rows);
            let url = first.unwrap_or_default();
            live.failure.get_or_insert(Error::StoppedAnswering { url, failure: failure.clone() });
            live.is_over = true;
        }
    }
}

/// The row of an answer. No other reference to the document is left, so nothing is copied.
fn answered(parcel: Arc<Parcel>, answer: wire::AnalysisAnswer) -> ScanRow {
    let (number, at, result) = (parcel.number, parcel.at, DocumentResult::Answered(answer));
    let url = Arc::try_unwrap(parcel).map_or_else(|shared| shared.url.clone(), |parcel| parcel.url);
    ScanRow { number, url, at, result }
}

pub(super) fn row(parcel: &Parcel, result: DocumentResult) -> ScanRow {
    ScanRow { number: parcel.number, url: parcel.url.clone(), at: parcel.at, result }
}

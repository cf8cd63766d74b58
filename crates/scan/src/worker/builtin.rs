//! A worker whose analysis is built in. It confines itself as it would a program.

use crate::analyses::Analysis;
use crate::open::{Opener, Unfit};
use crate::sandbox;
use crate::wire::{self, AnalysisAnswer, Arrived, Report};
use crate::worker_config::{WorkerConfig, chain};
use base::clock::RealClock;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

/// Maximum bytes of one read from the dispatcher: all that the pipe holds, so that it refills meanwhile.
const READ_BYTES: usize = 1024 * 1024;
/// Reports are sent when this many bytes are waiting,
const REPORT_BYTES: usize = 64 * 1024;
/// or this many reports: a part of a worker's window, so that more documents arrive before it runs out;
const REPORTS_MAX: usize = 128;

pub(super) fn run(config: &WorkerConfig, analysis: Analysis) -> Result<(), String> {
    // Its own unpacking takes memory that a program would not be charged for.
    let unpacking = 3 * config.limits.document_bytes as u64;
    let limits = crate::ProgramLimits {
        memory_bytes: config.limits.memory_bytes.saturating_add(unpacking),
        ..config.limits
    };
    sandbox::enter(std::process::id(), &limits, &config.confinement, None).map_err(|error| chain(&error))?;
    let mut worker = Builtin {
        analysis,
        opener: Opener::new(config.limits.document_bytes),
        answer_bytes_max: config.limits.answer_bytes,
        reports: Vec::new(),
        unsent: 0,
        clock: RealClock::start(),
        idle: Duration::ZERO,
    };
    worker.work(&mut io::stdin().lock(), &mut io::stdout().lock()).map_err(|error| error.to_string())
}

struct Builtin {
    analysis: Analysis,
    opener: Opener,
    answer_bytes_max: usize,
    reports: Vec<u8>,
    unsent: usize,
    clock: Arc<RealClock>,
    /// How long there was nothing in hand.
    idle: Duration,
}

impl Builtin {
    fn work(&mut self, input: &mut (impl Read + AsFd), output: &mut impl Write) -> io::Result<()> {
        let (mut buffer, mut filled, mut taken) = (vec![0; READ_BYTES], 0, 0);
        loop {
            let unread = buffer.get(taken..filled).unwrap_or_default();
            let split = wire::split(unread).map_err(|_| io::ErrorKind::InvalidData)?;
            if let Some((message, length)) = split {
                let mut from = 0;
                while let Some(parcel) =
                    Arrived::next(message, &mut from).map_err(|_| io::ErrorKind::InvalidData)?
                {
                    self.analyse(&parcel);
                    if self.reports.len() >= REPORT_BYTES || self.unsent >= REPORTS_MAX {
                        self.send(output)?;
                    }
                }
                taken += length;
                continue;
            }
            let wanted = wire::wanted(unread).unwrap_or(0);
            buffer.copy_within(taken..filled, 0);
            (filled, taken) = (filled - taken, 0);
            if buffer.len() < wanted {
                buffer.resize(wanted, 0);
            } else if buffer.len() > READ_BYTES && wanted.max(filled) <= READ_BYTES {
                buffer.truncate(READ_BYTES);
                buffer.shrink_to_fit();
            }
            // and before anything is waited for.
            if !is_ready(input) {
                self.send(output)?;
            }
            let waited_from = self.clock.real_elapsed();
            let read = input.read(buffer.get_mut(filled..).unwrap_or_default())?;
            if filled == 0 {
                self.idle += self.clock.real_elapsed() - waited_from;
            }
            if read == 0 {
                return Ok(());
            }
            filled += read;
        }
    }

    fn analyse(&mut self, parcel: &Arrived<'_>) {
        let mut answer = Vec::new();
        let opened = self.opener.open(parcel, |document, _| self.analysis.answer(document, &mut answer));
        let too_long = |max: usize| format!("its answer is longer than `{max}` bytes");
        let report = match opened {
            Err(Unfit(why)) => Report::Unfit(parcel.number, why),
            Ok(()) if answer.len() > self.answer_bytes_max => {
                Report::Unfit(parcel.number, too_long(self.answer_bytes_max))
            }
            Ok(()) => {
                let answer = String::from_utf8(answer).expect("a built-in analysis answers in JSON");
                Report::Answered(parcel.number, AnalysisAnswer::Json(answer))
            }
        };
        report.put(&mut self.reports);
        self.unsent += 1;
    }

    fn send(&mut self, output: &mut impl Write) -> io::Result<()> {
        if self.reports.is_empty() {
            return Ok(());
        }
        let busy = self.clock.real_elapsed().saturating_sub(self.idle);
        Report::Busy(u64::try_from(busy.as_micros()).unwrap_or(u64::MAX)).put(&mut self.reports);
        output.write_all(&self.reports)?;
        output.flush()?;
        self.reports.clear();
        self.unsent = 0;
        Ok(())
    }
}

/// Whether something can be read without waiting.
fn is_ready(input: &impl AsFd) -> bool {
    let mut fds = [PollFd::new(input, PollFlags::IN)];
    poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|ready| ready > 0)
}

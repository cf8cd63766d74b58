//! The workers: started, supervised, and restarted when they end.

use super::hear::Hearer;
use super::send::send;
use super::{Event, Shared};
use crate::error::Error;
use crate::settings::{AnalysisCommand, Settings};
use crate::wire::{AnalysisFailure, FailureCause};
use crate::worker_config::{WORKER, WorkerConfig};
use crate::{bound, tree};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::File;
use std::io::{self, Read, Seek as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::SyncSender;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The room of a pipe to or from a worker.
const PIPE_BYTES: usize = 1024 * 1024;
/// A worker that ended so often in a row before it said anything is not started any more.
const FALSE_STARTS_MAX: u32 = 5;
/// Maximum bytes reported of a worker's last output.
const WORDS_BYTES_MAX: u64 = 4 * 1024;

/// Which processes are workers.
#[derive(Debug)]
pub(super) struct Crew {
    /// For each seat the worker in it, and whether it was ended for doing nothing.
    seats: Mutex<Vec<Seat>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Seat {
    pid: Option<Pid>,
    is_guilty: bool,
    /// How long those before it had something in hand.
    busy: f64,
}

impl Crew {
    pub(super) fn new(jobs: usize) -> Self {
        Self { seats: Mutex::new(vec![Seat::default(); jobs]) }
    }
    fn seats(&self) -> std::sync::MutexGuard<'_, Vec<Seat>> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a worker. No search for stray processes runs meanwhile.
    fn start(&self, seat: usize, command: &mut Command) -> io::Result<Child> {
        let mut seats = self.seats();
        let child = command.spawn()?;
        if let Some(seat) = seats.get_mut(seat) {
            seat.pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
            seat.is_guilty = false;
        }
        Ok(child)
    }
    /// A worker has ended: what was below it ends too. Says whether it was ended for doing nothing.
    fn ended(&self, seat: usize, lane_busy: f64) -> bool {
        let mut seats = self.seats();
        let (mut is_guilty, mut ended) = (false, None);
        if let Some(seat) = seats.get_mut(seat) {
            is_guilty = seat.is_guilty;
            ended = seat.pid.take();
            seat.busy = lane_busy;
        }
        let spared: Vec<Pid> = seats.iter().filter_map(|seat| seat.pid).collect();
        tree::end_all(&spared);
        ended.into_iter().for_each(|pid| bound::leave(pid.as_raw_nonzero().get().unsigned_abs()));
        is_guilty
    }
    fn busy_before(&self, seat: usize) -> f64 {
        self.seats().get(seat).map_or(0.0, |seat| seat.busy)
    }

    /// Ends a worker that does nothing.
    pub(super) fn end_hung(&self, seat: usize) {
        if let Some(seat) = self.seats().get_mut(seat) {
            seat.is_guilty = true;
            if let Some(pid) = seat.pid {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }
    /// Ends all workers at once.
    pub(super) fn end(&self) {
        for pid in self.seats().iter().filter_map(|seat| seat.pid) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
    /// What each worker has used since it was started.
    pub(super) fn cpu_seconds(&self) -> Vec<f64> {
        self.seats().iter().map(|seat| seat.pid.map_or(0.0, tree::cpu_seconds)).collect()
    }
}

/// Keeps one seat filled until there is nothing more to do.
pub(super) fn keep(shared: &Shared<'_>, seat: usize, events: &SyncSender<Event>) {
    let mut false_starts = 0;
    while wait_for_work(shared, seat) {
        match run_worker(shared, seat, events) {
            Ok(has_spoken) => false_starts = if has_spoken { 0 } else { false_starts + 1 },
            Err(error) => {
                shared.fail(Error::Workers(error.to_string()));
                break;
            }
        }
        if false_starts >= FALSE_STARTS_MAX {
            shared.fail(Error::Workers("they end before they do anything".to_owned()));
        }
    }
    let _ = events.send(Event::Gone);
}

/// Whether there is, or may be, something to do for this seat.
fn wait_for_work(shared: &Shared<'_>, seat: usize) -> bool {
    let mut live = shared.lock();
    loop {
        if live.is_over || live.dispatch.is_done() {
            return false;
        }
        if seat == 0 || live.dispatch.has_answered() {
            return true;
        }
        live = shared.wait(seat, live);
    }
}

/// One worker from its start to its end; says whether it ever spoke.
fn run_worker(shared: &Shared<'_>, seat: usize, events: &SyncSender<Event>) -> io::Result<bool> {
    let mut words = tempfile::tempfile()?;
    let mut command = command(shared.settings);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(words.try_clone()?);
    let mut child = shared.crew.start(seat, &mut command)?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let (Some(input), Some(output)) = (input, output) else { return Err(io::ErrorKind::BrokenPipe.into()) };
    // A smaller pipe is only slower.
    let _ = rustix::pipe::fcntl_setpipe_size(&input, PIPE_BYTES);
    let _ = rustix::pipe::fcntl_setpipe_size(&output, PIPE_BYTES);
    let is_dead = Mutex::new(false);
    let mut hearer =
        Hearer { shared, seat, events, has_spoken: false, busy_before: shared.crew.busy_before(seat) };
    thread::scope(|scope| {
        scope.spawn(|| send(shared, seat, input, (&is_dead, events)));
        hearer.hear(output);
        *is_dead.lock().unwrap_or_else(PoisonError::into_inner) = true;
        shared.ring_all(&shared.lock());
    });
    let status = child.wait()?;
    let is_over = { shared.lock().is_over };
    let lane_busy = shared.lock().lanes.get(seat).map_or(0.0, |lane| lane.busy_seconds);
    let is_guilty = shared.crew.ended(seat, lane_busy);
    // One that ended with a document in hand has begun well: the document is tried elsewhere, and at last set aside.
    let has_begun = hearer.has_spoken || shared.lock().dispatch.with(seat) > 0;
    if !is_over && !hearer.is_done() {
        let failure = fault_of(&status.to_string(), is_guilty, &mut words);
        hearer.worker_ended(&failure, is_guilty);
    }
    Ok(has_begun)
}

fn fault_of(status: &str, is_guilty: bool, words: &mut File) -> AnalysisFailure {
    let what = if is_guilty {
        "its worker did nothing for too long".to_owned()
    } else {
        format!("its worker ended: {status}")
    };
    let mut said = Vec::new();
    let length = words.metadata().map_or(0, |metadata| metadata.len());
    let _ = words.seek(io::SeekFrom::Start(length.saturating_sub(WORDS_BYTES_MAX)));
    let _ = words.take(WORDS_BYTES_MAX).read_to_end(&mut said);
    AnalysisFailure {
        cause: FailureCause::Worker,
        what,
        words: String::from_utf8_lossy(&said).trim().to_owned(),
    }
}

/// The command that is a worker.
fn command(settings: &Settings) -> Command {
    let config = WorkerConfig::of(settings);
    let mut command = Command::new(&settings.executable);
    // Ctrl-C is for the dispatcher, which ends its workers when it has thought of it.
    command.arg(WORKER).arg(config.write()).process_group(0);
    if let AnalysisCommand::Program(program) | AnalysisCommand::Each(program) = &settings.work {
        command.args(program);
    }
    command
}

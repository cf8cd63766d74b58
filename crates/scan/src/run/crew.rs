//! The workers: started, given parcels, heard, and started anew when they end.

use super::{Event, Live, Shared};
use crate::dispatch::{Next, Outcome};
use crate::error::Error;
use crate::journal::{Row, Settled};
use crate::role::{self, Spoken};
use crate::settings::{Settings, Work};
use crate::wire::{self, Batch, Cause, Fault, Parcel, Report};
use crate::{bound, tree};
use rustix::pipe::{SpliceFlags, splice};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::File;
use std::io::{self, Read, Seek as _, Write as _};
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The room of a pipe to or from a worker.
const PIPE_BYTES: usize = 1024 * 1024;
/// So much is read from a worker at once.
const READ_BYTES: usize = 256 * 1024;
/// A worker that ended so often in a row before it said anything is not started any more.
const FALSE_STARTS_MAX: u32 = 5;
/// So much of what a worker said before it ended is told.
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

    /// Starts a worker. Nobody looks for stray processes meanwhile.
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
    // A system that gives less room is slower, and nothing else.
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
        let fault = fault_of(&status.to_string(), is_guilty, &mut words);
        hearer.worker_ended(&fault, is_guilty);
    }
    Ok(has_begun)
}

fn fault_of(status: &str, is_guilty: bool, words: &mut File) -> Fault {
    let what = if is_guilty {
        "its worker did nothing for too long".to_owned()
    } else {
        format!("its worker ended: {status}")
    };
    let mut said = Vec::new();
    let length = words.metadata().map_or(0, |metadata| metadata.len());
    let _ = words.seek(io::SeekFrom::Start(length.saturating_sub(WORDS_BYTES_MAX)));
    let _ = words.take(WORDS_BYTES_MAX).read_to_end(&mut said);
    Fault { cause: Cause::Worker, what, words: String::from_utf8_lossy(&said).trim().to_owned() }
}

/// The command that is a worker.
fn command(settings: &Settings) -> Command {
    let spoken = spoken(settings);
    let mut command = Command::new(&settings.executable);
    // Ctrl-C is for the dispatcher, which ends its workers when it has thought of it.
    command.arg(role::WORKER).arg(spoken.write()).process_group(0);
    if let Work::Program(program) | Work::Each(program) = &settings.work {
        command.args(program);
    }
    command
}

/// What a worker has to know.
pub(crate) fn spoken(settings: &Settings) -> Spoken {
    Spoken {
        limits: settings.limits,
        confinement: settings.confinement.clone(),
        scratch: settings.scratch.clone(),
        restart_every: settings.restart_every.max(1),
        builtin: match &settings.work {
            Work::Builtin(analysis) => Some(analysis.as_str().to_owned()),
            Work::Program(_) | Work::Each(_) => None,
        },
        is_each: matches!(settings.work, Work::Each(_)),
    }
}

/// Sends parcels to a worker as it is given them, until there are no more or it has ended.
fn send(
    shared: &Shared<'_>,
    seat: usize,
    mut input: ChildStdin,
    (is_dead, events): (&Mutex<bool>, &SyncSender<Event>),
) {
    let mut front = Vec::new();
    loop {
        let (parcels, is_alone) = {
            let mut live = shared.lock();
            loop {
                if live.is_over || *is_dead.lock().unwrap_or_else(PoisonError::into_inner) {
                    return;
                }
                match live.dispatch.next(seat) {
                    Next::Take(parcels) => {
                        let now = shared.now();
                        if live.dispatch.with(seat) == parcels.len() {
                            live.heard.iter_mut().skip(seat).take(1).for_each(|heard| *heard = now);
                        }
                        break (parcels, live.dispatch.is_alone(seat));
                    }
                    Next::Wait => live = shared.wait(seat, live),
                    Next::End => return,
                }
            }
        };
        let mut unsent = parcels.as_slice();
        while let Some((batch, rest)) = Batch::split(unsent, is_alone) {
            match send_batch(&mut input, &batch, &mut front) {
                Ok(()) => unsent = rest,
                // Its end is heard by the other thread.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return,
                Err(error) => {
                    // The archive cannot be read there. The worker has half a message, and ends; of several documents
                    // each is then tried alone.
                    if let [only] = batch.parcels {
                        set_aside(shared, seat, only, &error, events);
                    }
                    return;
                }
            }
        }
    }
}

/// A document that cannot be read is nobody's fault but the disk's.
fn set_aside(
    shared: &Shared<'_>,
    seat: usize,
    parcel: &Parcel,
    error: &io::Error,
    events: &SyncSender<Event>,
) {
    let settled = {
        let mut live = shared.lock();
        let settled = live.dispatch.settle(seat, parcel.number);
        shared.ring_all(&live);
        settled
    };
    let Some(settled) = settled else { return };
    let location = &settled.location;
    let what = format!("`{}` cannot be read at byte {}: {error}", location.file, location.offset);
    let fault = Fault { cause: Cause::Unfit, what, words: String::new() };
    let _ = events.send(Event::Rows(vec![(row(&settled, Settled::SetAside(fault)), Some(settled))]));
}

/// Sends what is said of parcels that lie close together, and behind it the stretch of their file, from file to pipe.
fn send_batch(input: &mut ChildStdin, batch: &Batch<'_>, front: &mut Vec<u8>) -> io::Result<()> {
    front.clear();
    batch.put_front(front);
    input.write_all(front)?;
    let file = batch.parcels.first().map(|parcel| &parcel.file);
    match file.and_then(|file| file.as_file()) {
        Some(file) => splice_all(file, input, batch.from, batch.length),
        None => {
            let mut stretch = vec![0; batch.length];
            file.map_or(Ok(()), |file| file.read_at(batch.from, &mut stretch))?;
            input.write_all(&stretch)
        }
    }
}

/// The same by way of our memory, for a file system that does not give its pages away.
fn copy_all(file: &File, mut input: &ChildStdin, offset: u64, length: usize) -> io::Result<()> {
    let mut stretch = vec![0; length];
    file.read_exact_at(&mut stretch, offset)?;
    input.write_all(&stretch)
}

/// The pages of the file go into the pipe as they are.
fn splice_all(file: &File, input: &ChildStdin, mut offset: u64, mut length: usize) -> io::Result<()> {
    while length > 0 {
        match splice(file, Some(&mut offset), input, None, length, SpliceFlags::empty()) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(moved) => length -= moved.min(length),
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::INVAL) => return copy_all(file, input, offset, length),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Hears what a worker reports.
struct Hearer<'a, 'e> {
    shared: &'a Shared<'a>,
    seat: usize,
    events: &'e SyncSender<Event>,
    has_spoken: bool,
    busy_before: f64,
}

/// Rows and the documents of those that were set aside.
type Rows = Vec<(Row, Option<Arc<Parcel>>)>;

impl Hearer<'_, '_> {
    fn hear(&mut self, mut output: ChildStdout) {
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
                    let fault = Fault { cause: Cause::Unfit, what, words: String::new() };
                    let parcel = live.dispatch.settle(self.seat, number);
                    rows.extend(parcel.map(|parcel| (row(&parcel, Settled::SetAside(fault)), Some(parcel))));
                }
                Report::Died { fault, suspects } => {
                    live.failures += 1;
                    let first = suspects.first().and_then(|number| live.dispatch.url_of(self.seat, *number));
                    let outcome = live.dispatch.failed(self.seat, &fault, &suspects);
                    settle_failed(&mut live, outcome, &fault, first, &mut rows);
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

    fn is_done(&self) -> bool {
        self.shared.lock().dispatch.is_done()
    }

    /// The worker ended though there was more to do.
    fn worker_ended(&self, fault: &Fault, is_guilty: bool) {
        let mut rows = Vec::new();
        {
            let mut live = self.shared.lock();
            live.worker_deaths += 1;
            let first = live.dispatch.first_url(self.seat);
            let outcome = live.dispatch.ended(self.seat, is_guilty);
            settle_failed(&mut live, outcome, fault, first, &mut rows);
            self.shared.ring_all(&live);
        }
        if !rows.is_empty() {
            let _ = self.events.send(Event::Rows(rows));
        }
    }
}

fn settle_failed(live: &mut Live, outcome: Outcome, fault: &Fault, first: Option<String>, rows: &mut Rows) {
    match outcome {
        Outcome::SetAside(parcels) => {
            rows.extend(
                parcels
                    .into_iter()
                    .map(|parcel| (row(&parcel, Settled::SetAside(fault.clone())), Some(parcel))),
            );
        }
        Outcome::Hopeless => {
            let url = first.unwrap_or_default();
            live.failure.get_or_insert(Error::NeverAnswered { url, fault: fault.clone() });
            live.is_over = true;
        }
        Outcome::Barren(parcels) => {
            settle_failed(live, Outcome::SetAside(parcels), fault, None, rows);
            let url = first.unwrap_or_default();
            live.failure.get_or_insert(Error::StoppedAnswering { url, fault: fault.clone() });
            live.is_over = true;
        }
    }
}

/// The row of an answer. Nobody else has the document any more, so nothing is copied.
fn answered(parcel: Arc<Parcel>, answer: wire::Answer) -> Row {
    let (number, at, settled) = (parcel.number, parcel.at, Settled::Answered(answer));
    let url = Arc::try_unwrap(parcel).map_or_else(|shared| shared.url.clone(), |parcel| parcel.url);
    Row { number, url, at, settled }
}

fn row(parcel: &Parcel, settled: Settled) -> Row {
    Row { number: parcel.number, url: parcel.url.clone(), at: parcel.at, settled }
}

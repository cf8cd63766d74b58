//! A worker that looks after a program: one loop over its pipes and those of the dispatcher.
//!
//! Documents go to the program as fast as it takes them, whether it has answered or not; how many may be on their way is
//! the dispatcher's decision (P2). When the program fails, those that it was given and did not answer are reported, it is
//! restarted with the next document, and the worker continues (P3).
//!
//! **Invariant:** what was given and is not answered stands in `given`, in order; whatever is reported leaves it.
//!
//! **Invariant:** the program and everything that it started have ended before its failure is reported.

use super::READ_BYTES;
use super::greed::Greed;
use super::outbox::Outbox;
use super::program::{Heard, Program};
use super::reports::{self, Reports};
use crate::open::{Opener, Unfit};
use crate::protocol::{Answers, Garbage, put_head};
use crate::tree;
use crate::wire::{self, AnalysisAnswer, AnalysisFailure, Arrived, FailureCause, Report};
use crate::worker_config::WorkerConfig;
use base::clock::RealClock;
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// How often the memory and the processes of the program are looked at.
const WATCH_EVERY: Duration = Duration::from_millis(100);
/// A program answers fast when no more than this lies between two answers.
const FAST: Duration = Duration::from_millis(10);
/// How long a worker looks away from such a program, at least and at most: a part of the time in which it works off what it
/// has.
const NAP: (Duration, Duration) = (Duration::from_micros(200), Duration::from_millis(2));
const NAP_PART: u32 = 4;
/// An answer that takes this many times as long as others is waited for without polling the dispatcher.
const LATE_TIMES: u32 = 4;
/// Maximum number of documents not yet given to the program before reading from the dispatcher pauses.
const WAITING_ENOUGH: usize = 64;

pub(super) fn run(config: &WorkerConfig, program: &[OsString]) -> Result<(), String> {
    tree::adopt().map_err(|error| format!("cannot look after processes: {error}"))?;
    // A program that ends while it is written to is no reason to end with it: that is the default in Rust.
    for fd in [io::stdin().as_fd(), io::stdout().as_fd()] {
        let set = fcntl_getfl(fd).and_then(|flags| fcntl_setfl(fd, flags | OFlags::NONBLOCK));
        set.map_err(|error| format!("cannot use a pipe: {error}"))?;
    }
    let mut worker = External {
        config,
        command: program,
        opener: Opener::new(config.limits.document_bytes),
        program: None,
        answers: Answers::new(config.limits.answer_bytes),
        unread: Vec::new(),
        waiting: VecDeque::new(),
        head: Vec::new(),
        outbox: Outbox::default(),
        given: VecDeque::new(),
        reports: Reports::default(),
        clock: RealClock::start(),
        last_sign: Duration::ZERO,
        in_hand_since: Duration::ZERO,
        answered_at: Duration::ZERO,
        answer_every: 2 * FAST,
        is_lively: false,
        watched: Duration::ZERO,
        greed: Greed::new(config.limits),
        busy: Duration::ZERO,
        busy_since: None,
        room: vec![0; READ_BYTES],
        is_over: false,
    };
    let worked = worker.work();
    if let Some(program) = worker.program.take() {
        program.dismiss();
    }
    // Half a report must not be followed by anything.
    if worker.reports.is_blocked() { Ok(()) } else { worked.map_err(|error| error.to_string()) }
}

struct External<'a> {
    config: &'a WorkerConfig,
    command: &'a [OsString],
    opener: Opener,
    program: Option<Program>,
    answers: Answers,
    /// What came from the dispatcher and is no whole message yet.
    unread: Vec<u8>,
    /// What the program was not given yet: messages, and where in them.
    waiting: VecDeque<(Rc<[u8]>, usize)>,
    /// The head of the document that was given last.
    head: Vec<u8>,
    /// What was given to it and it has not taken yet.
    outbox: Outbox,
    /// What it was given and has not answered.
    given: VecDeque<u64>,
    reports: Reports,
    clock: Arc<RealClock>,
    /// When the program last took a byte or gave one.
    last_sign: Duration,
    /// Since when it has the document that it has to answer next.
    in_hand_since: Duration,
    answered_at: Duration,
    /// The mean time between two answers of late.
    answer_every: Duration,
    /// Whether answers come so fast that it is enough to look for them now and then.
    is_lively: bool,
    watched: Duration,
    greed: Greed,
    busy: Duration,
    busy_since: Option<Duration>,
    room: Vec<u8>,
    is_over: bool,
}

impl External<'_> {
    fn work(&mut self) -> io::Result<()> {
        loop {
            self.give()?;
            self.count_busy();
            let ready = match self.nap_time() {
                Some(time) => self.nap(time)?,
                None => self.wait()?,
            };
            if ready.dispatcher {
                self.hear_dispatcher()?;
            }
            if self.is_over {
                return Ok(());
            }
            self.tend(ready)?;
            self.watch()?;
            if self.reports.are_due(self.given.len() + self.waiting.len(), self.clock.real_elapsed()) {
                self.send_reports()?;
            }
        }
    }

    /// Prepares the next document for the program, which is started if it does not run.
    fn give(&mut self) -> io::Result<()> {
        while self.outbox.has_room(self.is_lively) && !self.waiting.is_empty() {
            if self.is_due_for_restart() {
                if !self.given.is_empty() {
                    break;
                }
                self.dismiss();
            }
            let Some((message, mut from)) = self.waiting.pop_front() else { break };
            let parcel =
                Arrived::next(&message, &mut from).ok().flatten().ok_or(io::ErrorKind::InvalidData)?;
            if parcel.is_alone {
                // A document is blamed only for its own effects, so this program must have had no document before it.
                self.dismiss();
            }
            let program = match &mut self.program {
                Some(program) => program,
                none => {
                    self.greed.begin();
                    none.insert(patiently(|| Program::start(self.config, self.command))?)
                }
            };
            let (outbox, head, is_lively) = (&mut self.outbox, &mut self.head, self.is_lively);
            let opened = self.opener.open(&parcel, |document, coding| {
                head.clear();
                put_head(document, coding, head);
                outbox.give(&[head, document.body], program, is_lively)
            });
            if self.given.is_empty() {
                let now = self.clock.real_elapsed();
                (self.in_hand_since, self.last_sign) = (now, now);
            }
            match opened {
                Err(Unfit(why)) => self.report(&Report::Unfit(parcel.number, why)),
                Ok(written) => {
                    self.given.push_back(parcel.number);
                    self.was_written(&written)?;
                }
            }
        }
        self.push_input()
    }

    /// Lets the program go, which has answered everything.
    fn dismiss(&mut self) {
        self.program.take().into_iter().for_each(Program::dismiss);
        self.answers = Answers::new(self.config.limits.answer_bytes);
        self.is_lively = false;
    }

    fn is_due_for_restart(&self) -> bool {
        let every = self.config.restart_every;
        let given = self.given.len() as u64;
        self.program.as_ref().is_some_and(|program| program.answered + given >= every)
    }

    /// How long to look away from a program that answers faster than it is worth to be woken for each answer: not at all unless it
    /// has enough to do meanwhile.
    fn nap_time(&self) -> Option<Duration> {
        let given = u32::try_from(self.given.len()).unwrap_or(u32::MAX);
        let part = self.answer_every.saturating_mul(given) / NAP_PART;
        // With a full pipe it certainly has; with what is in a part of it only if that takes long.
        let has_enough = given > 1 && (!self.outbox.is_empty() || part >= NAP.1 / 2);
        (self.is_lively && has_enough).then(|| part.clamp(NAP.0, NAP.1))
    }

    fn nap(&mut self, time: Duration) -> io::Result<Ready> {
        let stdin = io::stdin();
        let mut fds = [PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::IN)];
        // While there is plenty to give, what the dispatcher has to say can wait.
        let fds = if self.waiting.len() > WAITING_ENOUGH { &mut fds[..0] } else { &mut fds[..] };
        let time = Timespec::try_from(time).ok();
        match poll(fds, time.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let dispatcher = fds.first().is_some_and(|fd| !fd.revents().is_empty());
        Ok(Ready { dispatcher, input: true, output: true, ..Ready::default() })
    }

    /// Waits until something can be done.
    fn wait(&mut self) -> io::Result<Ready> {
        let (stdin, stdout) = (io::stdin(), io::stdout());
        let mut fds = vec![PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::IN)];
        let mut whose = vec![0];
        let mut add = |fd, flags, who| {
            fds.push(PollFd::from_borrowed_fd(fd, flags));
            whose.push(who);
        };
        if self.reports.is_blocked() {
            add(stdout.as_fd(), PollFlags::OUT, 1);
        }
        if let Some(program) = &self.program {
            if let Some(input) = program.input().filter(|_| !self.outbox.is_empty()) {
                add(input, PollFlags::OUT, 2);
            }
            if !self.reports.is_full() {
                add(program.output(), PollFlags::IN, 3);
            }
            if let Some(complaints) = program.complaints() {
                add(complaints, PollFlags::IN, 4);
            }
            add(program.alive(), PollFlags::IN, 5);
        }
        let time = match (self.reports.is_empty() || self.reports.is_blocked(), self.program.is_some()) {
            (false, _) => Some(reports::PATIENCE),
            (true, true) => Some(WATCH_EVERY),
            (true, false) => None,
        };
        let time = time.and_then(|time| Timespec::try_from(time).ok());
        match poll(&mut fds, time.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut ready = Ready::default();
        for (fd, who) in fds.iter().zip(whose) {
            let is_ready = !fd.revents().is_empty();
            match who {
                0 => ready.dispatcher = is_ready,
                1 => {}
                2 => ready.input = is_ready,
                3 => ready.output = is_ready,
                4 => ready.complaints = is_ready,
                _ => ready.ended = is_ready,
            }
        }
        Ok(ready)
    }

    /// Takes what the dispatcher sends.
    fn hear_dispatcher(&mut self) -> io::Result<()> {
        self.unread.reserve(READ_BYTES);
        match rustix::io::read(io::stdin().as_fd(), spare_capacity(&mut self.unread)) {
            Ok(0) => self.is_over = true,
            Ok(_) | Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut taken = 0;
        loop {
            let rest = self.unread.get(taken..).unwrap_or_default();
            let Some((message, length)) = wire::split(rest).map_err(|_| io::ErrorKind::InvalidData)? else {
                break;
            };
            let message: Rc<[u8]> = message.into();
            let (mut from, mut next) = (0, 0);
            while Arrived::next(&message, &mut next).map_err(|_| io::ErrorKind::InvalidData)?.is_some() {
                self.waiting.push_back((Rc::clone(&message), from));
                from = next;
            }
            taken += length;
        }
        self.unread.drain(..taken);
        if self.unread.is_empty() && self.unread.capacity() > 8 * READ_BYTES {
            self.unread = Vec::new();
        }
        Ok(())
    }

    /// Does for the program what it waits for, and hears what it says.
    fn tend(&mut self, ready: Ready) -> io::Result<()> {
        if ready.complaints {
            self.program.iter_mut().for_each(|program| program.listen(&mut self.room));
        }
        if ready.output || ready.ended {
            self.hear_program()?;
        }
        if ready.input {
            self.push_input()?;
        }
        let ended = self.program.as_ref().filter(|_| ready.ended).and_then(Program::ended);
        if let Some((cause, what)) = ended {
            self.fail(cause, what)?;
        }
        Ok(())
    }

    fn push_input(&mut self) -> io::Result<()> {
        let Some(program) = &mut self.program else { return Ok(()) };
        let written = self.outbox.write_to(program);
        self.was_written(&written)
    }

    /// The program read this many bytes, or cannot read any more.
    fn was_written(&mut self, written: &io::Result<usize>) -> io::Result<()> {
        match written {
            Ok(0) => Ok(()),
            Ok(_) => {
                self.last_sign = self.clock.real_elapsed();
                Ok(())
            }
            Err(_) => self.fail_soon("it stopped reading documents".to_owned()),
        }
    }

    /// Reads answers until there are none.
    fn hear_program(&mut self) -> io::Result<()> {
        let before = self.given.len();
        let heard = self.hear_all();
        let answers = u32::try_from(before.saturating_sub(self.given.len())).unwrap_or(u32::MAX);
        let now = self.clock.real_elapsed();
        if answers > 0 {
            self.answer_every = (3 * self.answer_every + now.saturating_sub(self.answered_at) / answers) / 4;
            self.answered_at = now;
        }
        let is_late = now.saturating_sub(self.answered_at) > LATE_TIMES * self.answer_every;
        self.is_lively = self.answer_every <= FAST && !is_late;
        heard
    }

    fn hear_all(&mut self) -> io::Result<()> {
        while !self.reports.is_full() {
            let Some(program) = &mut self.program else { return Ok(()) };
            match program.hear(&mut self.room) {
                Ok(Heard::Bytes(read)) => {
                    self.answers.push(self.room.get(..read).unwrap_or_default());
                    self.last_sign = self.clock.real_elapsed();
                    if let Err(Garbage(what)) = self.take_answers() {
                        return self.fail(FailureCause::Garbage, what);
                    }
                }
                Ok(Heard::Nothing) => return Ok(()),
                Ok(Heard::End) | Err(_) => return self.fail_soon("it closed its standard output".to_owned()),
            }
        }
        // It waits for us, so that its silence is no fault of its own.
        let now = self.clock.real_elapsed();
        (self.last_sign, self.in_hand_since) = (now, now);
        Ok(())
    }

    fn take_answers(&mut self) -> Result<(), Garbage> {
        while let Some(number) = self.given.front().copied() {
            let Some(answer) = self.answers.next(number)? else { return Ok(()) };
            if self.given.len() == 1 {
                self.check_last(&answer)?;
            }
            self.given.pop_front();
            self.in_hand_since = self.clock.real_elapsed();
            self.program.iter_mut().for_each(|program| program.answered += 1);
            self.report(&Report::Answered(number, answer));
        }
        if self.answers.is_begun() {
            return Err(Garbage("it answered a document that it was not given".to_owned()));
        }
        Ok(())
    }

    /// Looks whether the answer to the last document that was given can be one.
    fn check_last(&self, answer: &AnalysisAnswer) -> Result<(), Garbage> {
        let is_first = self.program.as_ref().is_some_and(|program| program.answered == 0);
        let is_unread = || self.program.as_ref().is_some_and(Program::has_unread);
        if !self.outbox.is_empty() || (is_first && is_unread()) {
            return Err(Garbage("it answered before it had read the whole document".to_owned()));
        }
        // A head alone may be meant as an answer; what follows it shows that it is not.
        if answer.as_bytes() == self.head.trim_ascii() && self.answers.is_begun() {
            return Err(Garbage("it repeated what it was given instead of answering".to_owned()));
        }
        Ok(())
    }

    /// The program has closed a pipe. That is mostly its end, which says more.
    fn fail_soon(&mut self, what: String) -> io::Result<()> {
        let program = self.program.as_ref();
        let ended = program.and_then(|program| {
            let mut fds = [PollFd::from_borrowed_fd(program.alive(), PollFlags::IN)];
            let time = Timespec::try_from(WATCH_EVERY).ok();
            let _ = poll(&mut fds, time.as_ref());
            program.ended()
        });
        let (cause, what) = ended.unwrap_or((FailureCause::Ended, what));
        self.fail(cause, what)
    }

    /// Looks whether the program keeps to its limits.
    fn watch(&mut self) -> io::Result<()> {
        if self.program.is_none() {
            return Ok(());
        }
        let (now, limits) = (self.clock.real_elapsed(), &self.config.limits);
        if self.given.is_empty() || self.reports.is_full() {
            (self.last_sign, self.in_hand_since) = (now, now);
        }
        if now.saturating_sub(self.last_sign) > limits.progress {
            let what = format!("it did nothing for {} s", limits.progress.as_secs_f64());
            return self.fail(FailureCause::Hung, what);
        }
        if now.saturating_sub(self.in_hand_since) > limits.document {
            let what = format!("it took longer than {} s for one document", limits.document.as_secs_f64());
            return self.fail(FailureCause::Hung, what);
        }
        if now.saturating_sub(self.watched) < WATCH_EVERY {
            return Ok(());
        }
        self.watched = now;
        self.greed.watch().map_or(Ok(()), |what| self.fail(FailureCause::Greedy, what))
    }

    /// The program has failed: it is killed, and its documents are reported. The next document restarts it.
    fn fail(&mut self, cause: FailureCause, what: String) -> io::Result<()> {
        let Some(program) = self.program.take() else { return Ok(()) };
        let words = program.end();
        // A program that hits a limit usually ends in another way afterwards.
        let (cause, what) = match self.greed.refused() {
            Some(greed) if matches!(cause, FailureCause::Ended | FailureCause::Crashed) => {
                (FailureCause::Greedy, greed)
            }
            _ => (cause, what),
        };
        let suspects: Vec<u64> = self.given.drain(..).collect();
        self.outbox.clear();
        self.is_lively = false;
        self.answers = Answers::new(self.config.limits.answer_bytes);
        self.report(&Report::Died { failure: AnalysisFailure { cause, what, words }, suspects });
        self.send_reports()
    }

    fn report(&mut self, report: &Report) {
        self.reports.put(report, self.clock.real_elapsed());
    }

    fn send_reports(&mut self) -> io::Result<()> {
        let now = self.clock.real_elapsed();
        let busy = self.busy + self.busy_since.map_or(Duration::ZERO, |since| now.saturating_sub(since));
        self.reports.send(busy)
    }

    fn count_busy(&mut self) {
        let has_any = !self.given.is_empty() || !self.waiting.is_empty();
        match (has_any, self.busy_since) {
            (true, None) => self.busy_since = Some(self.clock.real_elapsed()),
            (false, Some(since)) => {
                self.busy += self.clock.real_elapsed().saturating_sub(since);
                self.busy_since = None;
            }
            _ => {}
        }
    }
}

/// Tries again what fails because something runs short that others take: it may be a fork bomb that is about to be ended.
fn patiently<T>(mut start: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    use io::ErrorKind::{OutOfMemory, QuotaExceeded, StorageFull, WouldBlock};
    for _ in 0..SHORTAGE_TRIES {
        match start() {
            Err(error) if matches!(error.kind(), WouldBlock | OutOfMemory | StorageFull | QuotaExceeded) => {
                std::thread::sleep(WATCH_EVERY);
            }
            started => return started,
        }
    }
    start()
}

/// So often, which is some seconds.
const SHORTAGE_TRIES: u32 = 50;

/// Which pipes have something to do.
#[derive(Clone, Copy, Debug, Default)]
struct Ready {
    dispatcher: bool,
    input: bool,
    output: bool,
    complaints: bool,
    ended: bool,
}

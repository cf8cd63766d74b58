//! Work on background threads, or on the caller's.
//!
//! Without threads, work is done at once, in a fixed order, so a test on a simulated disk is a function of its seed.
//! With threads the same function does the same work later.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

type Work<J, R> = dyn Fn(Vec<J>) -> Vec<R> + Send + Sync;

/// Does jobs `J` with results `R`.
pub(crate) struct Worker<J, R> {
    shared: Arc<Shared<J, R>>,
    threads: Vec<JoinHandle<()>>,
    /// Jobs whose results were not taken yet.
    outstanding: usize,
}

struct Shared<J, R> {
    state: Mutex<State<J, R>>,
    jobs_came: Condvar,
    results_came: Condvar,
    work: Box<Work<J, R>>,
    /// How many waiting jobs one thread takes at once.
    group_max: usize,
}

struct State<J, R> {
    jobs: VecDeque<J>,
    results: VecDeque<R>,
    closing: bool,
    /// A thread ended by a panic; its jobs will not be finished.
    broken: bool,
}

impl<J: Send + 'static, R: Send + 'static> Worker<J, R> {
    /// `work` gets up to `group_max` jobs at once and returns a result for each.
    pub(crate) fn new(
        name: &str,
        threads: usize,
        group_max: usize,
        work: impl Fn(Vec<J>) -> Vec<R> + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                jobs: VecDeque::new(),
                results: VecDeque::new(),
                closing: false,
                broken: false,
            }),
            jobs_came: Condvar::new(),
            results_came: Condvar::new(),
            work: Box::new(work),
            group_max,
        });
        let threads = (0..threads).map(|_| {
            let shared = Arc::clone(&shared);
            std::thread::Builder::new().name(name.to_owned()).spawn(move || shared.run())
        });
        Ok(Self { threads: threads.collect::<std::io::Result<_>>()?, shared, outstanding: 0 })
    }
    pub(crate) fn submit(&mut self, job: J) {
        self.outstanding += 1;
        if self.threads.is_empty() {
            let results = (self.shared.work)(vec![job]);
            self.shared.lock().results.extend(results);
        } else {
            self.shared.lock().jobs.push_back(job);
            self.shared.jobs_came.notify_one();
        }
    }
    /// A result, if there is one.
    pub(crate) fn poll(&mut self) -> Option<R> {
        if self.outstanding == 0 {
            return None;
        }
        let result = self.shared.lock().results.pop_front()?;
        self.outstanding -= 1;
        Some(result)
    }
    /// The next result, when it comes; `None` if no job is outstanding.
    pub(crate) fn wait(&mut self) -> Option<R> {
        if self.outstanding == 0 {
            return None;
        }
        let mut state = self.shared.lock();
        loop {
            if let Some(result) = state.results.pop_front() {
                self.outstanding -= 1;
                return Some(result);
            }
            assert!(!state.broken, "a background thread of the store panicked");
            state = self.shared.results_came.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
    /// Jobs whose results were not taken yet.
    pub(crate) fn outstanding(&self) -> usize {
        self.outstanding
    }
}

impl<J, R> Shared<J, R> {
    fn lock(&self) -> MutexGuard<'_, State<J, R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn run(&self) {
        let guard = BreakOnPanic(self);
        while let Some(jobs) = self.next_jobs() {
            let results = (self.work)(jobs);
            self.lock().results.extend(results);
            self.results_came.notify_all();
        }
        std::mem::forget(guard);
    }
    fn next_jobs(&self) -> Option<Vec<J>> {
        let mut state = self.lock();
        loop {
            if !state.jobs.is_empty() {
                let group = state.jobs.len().min(self.group_max);
                return Some(state.jobs.drain(..group).collect());
            }
            if state.closing {
                return None;
            }
            state = self.jobs_came.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

struct BreakOnPanic<'a, J, R>(&'a Shared<J, R>);

impl<J, R> Drop for BreakOnPanic<'_, J, R> {
    fn drop(&mut self) {
        self.0.lock().broken = true;
        self.0.results_came.notify_all();
    }
}

/// What was submitted is still done.
impl<J, R> Drop for Worker<J, R> {
    fn drop(&mut self) {
        self.shared.lock().closing = true;
        self.shared.jobs_came.notify_all();
        for thread in self.threads.drain(..) {
            // A panic of the thread was reported already.
            let _ = thread.join();
        }
    }
}

impl<J, R> fmt::Debug for Worker<J, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("outstanding", &self.outstanding).finish_non_exhaustive()
    }
}

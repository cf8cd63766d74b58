//! Whether a program exceeds its memory or process limit: it is polled, and the kernel reports refusals.

use crate::bound::{Groups, Refusals};
use crate::settings::ProgramLimits;
use crate::tree;

/// The watch of one worker.
#[derive(Debug)]
pub(super) struct Greed {
    limits: ProgramLimits,
    groups: Groups,
    /// What the kernel had refused to earlier programs.
    before: Refusals,
}

impl Greed {
    pub(super) fn new(limits: ProgramLimits) -> Self {
        Self { limits, groups: Groups::make(&limits), before: Refusals::default() }
    }

    /// A program is about to be started.
    pub(super) fn begin(&mut self) {
        self.before = self.groups.refusals();
    }

    /// What the program takes too much of.
    pub(super) fn watch(&self) -> Option<String> {
        let limits = &self.limits;
        // All of what is below this worker, not below the program: who loses a parent comes to the worker.
        let (processes, bytes) = tree::weigh(limits.processes, limits.memory_bytes);
        if bytes > limits.memory_bytes {
            return Some(self.too_much_memory());
        }
        if processes > limits.processes { Some(self.too_many_processes()) } else { self.refused() }
    }

    /// What the program wanted more of, when the kernel refused it.
    pub(super) fn refused(&self) -> Option<String> {
        let refused = self.groups.refusals();
        if refused.memory > self.before.memory {
            return Some(self.too_much_memory());
        }
        (refused.tasks > self.before.tasks).then(|| self.too_many_processes())
    }

    fn too_much_memory(&self) -> String {
        format!("it took more than {} MiB of memory", self.limits.memory_bytes >> 20)
    }
    fn too_many_processes(&self) -> String {
        format!("it wanted to be more than {} processes and threads", self.limits.processes)
    }
}

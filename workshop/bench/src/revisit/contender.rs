//! Who takes part: every policy, and what they are measured by.

use super::bounds::{Clairvoyant, InTurn, Oracle};
use super::crawler;
use super::hints::{Hints, Kind};
use super::replay::{self, Planner};
use super::scheduled::Scheduled;
use super::score::Score;
use super::trace::Trace;
use base::Interval;
use frontier::revisit::co_change::Tuning;
use frontier::{Allocation, Estimator, RevisitPolicy};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Who takes part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Contender {
    /// Every page in turn, new ones first: what all are compared with.
    Uniform,
    /// Every page in turn, new ones at the end of the line.
    UniformNewLast,
    /// A policy of the crawler's.
    RevisitPolicy(RevisitPolicy),
    /// The default, with hints.
    Hinted(Kind),
    /// The default with one of its numbers halved or doubled.
    Tuned(&'static str, Tuning),
    /// True mean rates, by their root.
    Oracle,
    /// Every change when it happens.
    Clairvoyant,
    /// The frontier itself, by the default.
    Crawler,
}

impl Contender {
    /// All, or those that are measured by plus the given policies.
    pub(crate) fn all(policies: &[RevisitPolicy]) -> Vec<Self> {
        let every = Estimator::ALL.into_iter().flat_map(|estimator| {
            let fits =
                |allocation: &Allocation| !matches!(allocation, Allocation::Uniform | Allocation::Fixed);
            Allocation::ALL
                .into_iter()
                .filter(fits)
                .map(move |allocation| RevisitPolicy::new(estimator, allocation))
        });
        let policies = if policies.is_empty() { every.collect() } else { policies.to_vec() };
        let mut all = vec![Self::Uniform, Self::UniformNewLast];
        all.extend(policies.into_iter().map(Self::RevisitPolicy));
        all.extend(Kind::ALL.map(Self::Hinted));
        all.extend([Self::Oracle, Self::Clairvoyant]);
        all
    }
    /// The given policies alone.
    pub(crate) fn plain(policies: &[RevisitPolicy]) -> Vec<Self> {
        let policies = policies.iter().copied().map(Self::RevisitPolicy);
        [Self::Uniform].into_iter().chain(policies).collect()
    }
    /// The default, and with each of its numbers halved and doubled.
    pub(crate) fn tuned() -> Vec<Self> {
        let default = Tuning::default();
        let tuned = [
            ("advantage / 2", Tuning { advantage: default.advantage / 2.0, ..default }),
            ("advantage * 2", Tuning { advantage: default.advantage * 2.0, ..default }),
            ("early-max / 2", Tuning { early_max: default.early_max / 2.0, ..default }),
            ("early-max * 2", Tuning { early_max: default.early_max * 2.0, ..default }),
            ("weight / 2", Tuning { weight: default.weight / 2.0, ..default }),
            ("weight * 2", Tuning { weight: default.weight * 2.0, ..default }),
            ("lasts / 2", Tuning { lasts: default.lasts.times(0.5), ..default }),
            ("lasts * 2", Tuning { lasts: default.lasts.times(2.0), ..default }),
        ];
        let tuned = tuned.map(|(name, tuning)| Self::Tuned(name, tuning));
        [Self::Uniform, Self::RevisitPolicy(RevisitPolicy::default())].into_iter().chain(tuned).collect()
    }
    /// The number that differs from the default.
    pub(crate) fn tuning(&self) -> Option<&'static str> {
        if let Self::Tuned(name, _) = self { Some(name) } else { None }
    }
    /// The frontier itself beside the replay of the same policy.
    pub(crate) fn crawler() -> Vec<Self> {
        vec![Self::Uniform, Self::RevisitPolicy(RevisitPolicy::default()), Self::Crawler]
    }
    /// The estimator and the allocation.
    pub(crate) fn names(&self) -> (&'static str, &'static str) {
        match self {
            Self::Uniform => ("none", "uniform"),
            Self::UniformNewLast => ("none", "uniform-new-last"),
            Self::RevisitPolicy(policy) => (policy.estimator.name(), policy.allocation.name()),
            Self::Hinted(_) | Self::Tuned(..) => Self::RevisitPolicy(RevisitPolicy::default()).names(),
            Self::Oracle => ("oracle", "root"),
            Self::Clairvoyant => ("clairvoyant", "none"),
            Self::Crawler => ("crawler", RevisitPolicy::default().allocation.name()),
        }
    }
    /// What hints are given.
    pub(crate) fn hints(&self) -> Option<Kind> {
        if let Self::Hinted(kind) = self { Some(*kind) } else { None }
    }
    pub(crate) fn is_default(&self) -> bool {
        let default = RevisitPolicy::default();
        let is_it = |policy: &RevisitPolicy| {
            (policy.estimator, policy.allocation) == (default.estimator, default.allocation)
        };
        match self {
            Self::RevisitPolicy(policy) => is_it(policy),
            Self::Hinted(_) => true,
            _ => false,
        }
    }

    pub(crate) fn play(&self, trace: &Trace, every: Interval) -> Score {
        let hints = self.hints().map(|kind| Hints::of(trace, kind));
        let tuned = |policy: &RevisitPolicy, tuning: Tuning| {
            Scheduled::new(trace, RevisitPolicy { every, ..*policy }, tuning)
        };
        let scheduled = |policy: &RevisitPolicy| tuned(policy, Tuning::default());
        let mut planner: Box<dyn Planner + '_> = match self {
            Self::Uniform => Box::new(InTurn::default()),
            Self::UniformNewLast => Box::new(InTurn::new_last()),
            Self::RevisitPolicy(policy) => Box::new(scheduled(policy)),
            Self::Hinted(_) => Box::new(scheduled(&RevisitPolicy::default())),
            Self::Tuned(_, tuning) => Box::new(tuned(&RevisitPolicy::default(), *tuning)),
            Self::Oracle => Box::new(Oracle::new(trace)),
            Self::Clairvoyant => Box::new(Clairvoyant::new(trace)),
            Self::Crawler => {
                let policy = RevisitPolicy { every, ..RevisitPolicy::default() };
                return crawler::crawl(trace, &policy).expect("a store in memory fails no crawl");
            }
        };
        replay::play(trace, every, hints.as_ref(), planner.as_mut())
    }
}

/// One contender's scores, trace by trace.
#[derive(Debug)]
pub(crate) struct Played {
    pub(crate) contender: Contender,
    pub(crate) scores: Vec<Score>,
}

/// Plays all contenders on all traces, on as many threads as there are processors.
pub(crate) fn play_all(contenders: &[Contender], traces: &[Trace], every: Interval) -> Vec<Played> {
    let plays = contenders.len() * traces.len();
    let (next, results) = (AtomicUsize::new(0), Mutex::new(vec![Score::default(); plays]));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let play = next.fetch_add(1, Ordering::Relaxed)
                    && play < plays
                {
                    let (contender, trace) = (&contenders[play / traces.len()], &traces[play % traces.len()]);
                    let score = contender.play(trace, every);
                    results.lock().unwrap_or_else(PoisonError::into_inner)[play] = score;
                    let (estimator, allocation) = contender.names();
                    eprintln!(
                        "every {every}: {estimator}/{allocation} on {} ({} of {plays})",
                        trace.name,
                        play + 1
                    );
                }
            });
        }
    });
    let scores = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    let each = contenders.iter().zip(scores.chunks(traces.len()));
    each.map(|(contender, scores)| Played { contender: *contender, scores: scores.to_vec() }).collect()
}

impl Played {
    /// All traces together, weighted by page-time.
    pub(crate) fn together(&self) -> Score {
        let mut sum = Score::default();
        self.scores.iter().for_each(|score| sum.add(score));
        sum
    }
    /// The most that a figure is of another's on a single trace.
    pub(crate) fn worst(&self, base: &Self, of: fn(&Score) -> f64) -> f64 {
        self.scores
            .iter()
            .zip(&base.scores)
            .map(|(own, base)| of(own) / of(base).max(1e-12))
            .fold(0.0, f64::max)
    }
}

//! What each worker did over time: the figure of paper 000 (P5).

mod draw;

pub use draw::svg;

use crate::settings::SupplyMode;
use serde_json::{Value, json};

/// A run, worker by worker.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// How documents got to the workers.
    pub supply: &'static str,
    /// How long it took.
    pub seconds: f64,
    /// How many documents were settled.
    pub documents: u64,
    /// The workers.
    pub workers: Vec<WorkerTrace>,
}

/// What one worker did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkerTrace {
    /// How long it had a document in hand.
    pub busy_seconds: f64,
    /// When its last answer came.
    pub finished: f64,
    /// How many documents it settled.
    pub documents: u64,
    /// The processor time that it and its program used, in percent of one processor, up to a moment since the last one.
    pub cpu: Vec<(f64, f64)>,
}

impl Trace {
    /// The share of the run in which a worker had a document in hand.
    #[must_use]
    pub fn busy(&self, lane: &WorkerTrace) -> f64 {
        if self.seconds > 0.0 { (lane.busy_seconds / self.seconds).min(1.0) } else { 0.0 }
    }

    /// The trace for programs.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let worker = |(number, lane): (usize, &WorkerTrace)| {
            let cpu: Vec<Value> =
                lane.cpu.iter().map(|(at, percent)| json!([round(*at), round(*percent)])).collect();
            json!({
                "worker": number, "busy": round(self.busy(lane)), "busy_seconds": round(lane.busy_seconds),
                "finished": round(lane.finished), "documents": lane.documents, "cpu": cpu,
            })
        };
        json!({
            "supply": self.supply, "jobs": self.workers.len(), "seconds": round(self.seconds),
            "documents": self.documents, "workers": self.workers.iter().enumerate().map(worker).collect::<Vec<_>>(),
        })
    }

    /// Reads what [`Trace::to_json`] wrote.
    #[must_use]
    pub fn from_json(json: &Value) -> Option<Self> {
        let supply = json.get("supply")?.as_str()?;
        let supply = SupplyMode::ALL.into_iter().map(SupplyMode::as_str).find(|known| *known == supply)?;
        let sample = |sample: &Value| Some((sample.get(0)?.as_f64()?, sample.get(1)?.as_f64()?));
        let lane = |lane: &Value| {
            Some(WorkerTrace {
                busy_seconds: lane.get("busy_seconds")?.as_f64()?,
                finished: lane.get("finished")?.as_f64()?,
                documents: lane.get("documents")?.as_u64()?,
                cpu: lane.get("cpu")?.as_array()?.iter().map(sample).collect::<Option<_>>()?,
            })
        };
        Some(Self {
            supply,
            seconds: json.get("seconds")?.as_f64()?,
            documents: json.get("documents")?.as_u64()?,
            workers: json.get("workers")?.as_array()?.iter().map(lane).collect::<Option<_>>()?,
        })
    }
}

fn round(value: f64) -> f64 {
    (value * 10_000.0).round() / 10_000.0
}

/// Maximum number of samples per worker; then every second one is dropped and the interval doubles.
const SAMPLES_MAX: usize = 1_000;

/// Samples the use of the processor, less often the longer it lasts.
#[derive(Debug)]
pub(crate) struct Sampler {
    every: f64,
    next: f64,
    last: f64,
    used: Vec<f64>,
}

impl Sampler {
    pub(crate) fn new(workers: usize) -> Self {
        Self { every: 0.1, next: 0.1, last: 0.0, used: vec![0.0; workers] }
    }
    /// Whether it is time.
    pub(crate) fn is_due(&self, seconds: f64) -> bool {
        seconds >= self.next
    }
    /// Takes what each worker has used so far.
    pub(crate) fn take(&mut self, seconds: f64, used: &[f64], lanes: &mut [WorkerTrace]) {
        let past = (seconds - self.last).max(1e-6);
        for ((used, before), lane) in used.iter().zip(&mut self.used).zip(lanes.iter_mut()) {
            // A new worker begins at nothing.
            let more = if used >= before { used - *before } else { *used };
            *before = *used;
            lane.cpu.push((seconds, 100.0 * more / past));
        }
        self.last = seconds;
        if lanes.iter().any(|lane| lane.cpu.len() > SAMPLES_MAX) {
            lanes.iter_mut().for_each(|lane| lane.cpu = halved(&lane.cpu));
            self.every *= 2.0;
        }
        self.next = seconds + self.every;
    }
}

/// Two moments become one, of both together.
fn halved(samples: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut before = 0.0;
    let both = |pair: &[(f64, f64)]| {
        let (mut used, from) = (0.0, before);
        for (at, percent) in pair {
            used += percent * (at - before);
            before = *at;
        }
        (before, used / (before - from).max(1e-6))
    };
    samples.chunks(2).map(both).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_is_sampled_less_often_and_tells_the_same() {
        let (mut sampler, mut lanes) = (Sampler::new(1), vec![WorkerTrace::default()]);
        let (mut seconds, mut used) = (0.0, 0.0);
        while seconds < 2_000.0 {
            seconds += 0.1;
            used += 0.05;
            if sampler.is_due(seconds) {
                sampler.take(seconds, &[used], &mut lanes);
            }
        }
        assert!(lanes[0].cpu.len() <= SAMPLES_MAX + 1);
        assert!(lanes[0].cpu.iter().all(|(_, percent)| (percent - 50.0).abs() < 1.0), "{:?}", lanes[0].cpu);
    }

    #[test]
    fn a_trace_tells_how_busy_each_worker_was() {
        let lane = WorkerTrace { busy_seconds: 1.9, finished: 2.0, documents: 7, cpu: vec![(1.0, 99.5)] };
        let trace = Trace { supply: "pipelined", seconds: 2.0, documents: 7, workers: vec![lane] };
        let told = trace.to_json();
        assert_eq!((&told["workers"][0]["busy"], &told["jobs"]), (&json!(0.95), &json!(1)));
        assert_eq!(Trace::from_json(&told).as_ref(), Some(&trace));
        assert_eq!(Trace::from_json(&json!({ "supply": "by mail" })), None);
        let drawn = svg(&[trace]);
        assert!(
            drawn.starts_with("<svg") && drawn.contains("pipelined") && drawn.trim_end().ends_with("</svg>")
        );
    }
}

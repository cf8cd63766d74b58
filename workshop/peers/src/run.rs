//! Records by the time at which they are due: each is read when it is, and written back for its own next time.
//!
//! **Invariant:** a commit takes records from their old places and adds them at their new ones, so a crash loses no
//! record and doubles none. Commits hold as many records as was asked for, whatever units of time they come from.

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use workload::{Deliveries, Workload};

use crate::RunArgs;
use crate::confined::{self, Meter};
use crate::store::{Change, Place, Record, Store, interval};

/// How often progress is reported.
const PROGRESS_EVERY: Duration = Duration::from_secs(5);

/// Loads, measures, removes.
pub(crate) fn run(args: &RunArgs) -> Result<()> {
    confined::make_empty(&args.common.directory)?;
    let measured = confined::must_succeed("load").and_then(|()| measure(args));
    confined::remove(&args.common.directory)?;
    measured
}

/// Loads the steady state.
pub(crate) fn load(args: &RunArgs) -> Result<()> {
    let common = &args.common;
    confined::make_empty(&common.directory)?;
    let began = confined::now();
    // Loading is not measured, and a store that is given memory is loaded sooner.
    let budget = common.buffer_bytes.max(256 << 20);
    let mut store = common.system.open_store(&common.directory, budget, args.records)?;
    store.load(&workload(args))?;
    eprintln!("peers: {} loaded in {:.0} s", common.system.name(), began.elapsed().as_secs_f64());
    Ok(())
}

/// Measures in a process of its own and prints the result.
pub(crate) fn measure(args: &RunArgs) -> Result<()> {
    let mut result = confined::measure("measure-here", &args.common.limits(), &args.common.directory)?;
    let expected = workload(args).deliveries_until(units_of(&result)?);
    let right = result["deliveries"] == shown(expected);
    ensure!(
        right,
        "`{}` did not hand out what was due: expected {}, got {result}",
        args.common.system.name(),
        shown(expected)
    );
    result["verified"] = json!(right);
    println!("{result}");
    Ok(())
}

/// Measures in this process.
pub(crate) fn measure_here(args: &RunArgs) -> Result<()> {
    let common = &args.common;
    let mut store = common.system.open_store(&common.directory, common.buffer_bytes, args.records)?;
    let meter = Meter::begin()?;
    let mut work = Work::new(common.commit);
    while work.units < args.units && work.unit(store.as_mut(), &meter, args)? {}
    work.commit(store.as_mut())?;
    store.finish()?;

    let mut result = json!({
        "system": common.system.name(),
        "dataset": args.dataset.name(),
        "periods": args.periods,
        "buffer_bytes": common.buffer_bytes,
        "records": args.records,
        "units": work.units,
        "commit_records": common.commit,
        "durable": true,
        "deliveries": shown(work.until_last_unit),
    });
    meter.end(u32::try_from(work.deliveries.count)?, &mut result)?;
    println!("{result}");
    Ok(())
}

/// The state of the work between two commits.
struct Work {
    commit_records: usize,
    /// Whole units done.
    units: u32,
    /// All that lies before is dealt with.
    reached: Place,
    /// What `reached` was at the last commit.
    committed: Place,
    /// Places that records were taken from since then.
    taken: Vec<Place>,
    /// Records to be added, at their new places.
    pending: Vec<(Place, Record)>,
    deliveries: Deliveries,
    until_last_unit: Deliveries,
    told: Instant,
}

impl Work {
    fn new(commit_records: usize) -> Self {
        let start = Place::new(0, 0);
        Self {
            commit_records,
            units: 0,
            reached: start,
            committed: start,
            taken: Vec::with_capacity(commit_records),
            pending: Vec::with_capacity(commit_records),
            deliveries: Deliveries::default(),
            until_last_unit: Deliveries::default(),
            told: confined::now(),
        }
    }

    /// Works through the next unit of time; false if the time for the measurement is over.
    fn unit(&mut self, store: &mut dyn Store, meter: &Meter, args: &RunArgs) -> Result<bool> {
        let now = self.units + 1;
        self.hand_out_pending(now);
        let end = Place::new(now + 1, 0);
        loop {
            let (first, room) = (self.pending.len(), self.commit_records - self.pending.len());
            store.read(self.reached..end, room, &mut self.pending)?;
            self.hand_out_read(first);
            if self.pending.len() < self.commit_records {
                break;
            }
            self.commit(store)?;
            self.tell(meter, args);
            if meter.seconds() > f64::from(args.common.seconds) {
                return Ok(false);
            }
        }
        self.reached = end;
        self.units = now;
        self.until_last_unit = self.deliveries;
        Ok(true)
    }

    /// Hands out what is due again before it was committed. Its old place goes with the others.
    fn hand_out_pending(&mut self, now: u32) {
        for (place, record) in self.pending.iter_mut().filter(|(place, _)| place.due() == now) {
            self.deliveries.add(place.number(), now);
            *place = again(*place, record);
        }
    }

    /// Hands out the records that were read, which stand from `first` on with the places they were read from.
    fn hand_out_read(&mut self, first: usize) {
        for (place, record) in &mut self.pending[first..] {
            self.deliveries.add(place.number(), place.due());
            self.taken.push(*place);
            self.reached = place.next();
            *place = again(*place, record);
        }
    }

    fn commit(&mut self, store: &mut dyn Store) -> Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        self.pending.sort_unstable_by_key(|(place, _)| *place);
        let gone = self.committed..self.reached;
        store.commit(&Change { gone, gone_one_by_one: &self.taken, put: &self.pending })?;
        self.committed = self.reached;
        self.taken.clear();
        self.pending.clear();
        Ok(())
    }

    fn tell(&mut self, meter: &Meter, args: &RunArgs) {
        if self.told.elapsed() > PROGRESS_EVERY {
            self.told = confined::now();
            let (name, seconds) = (args.common.system.name(), meter.seconds());
            eprintln!(
                "peers: {name}: unit {}, {} records, {seconds:.0} s",
                self.units + 1,
                self.deliveries.count
            );
        }
    }
}

/// The next position of a record that is delivered at `place`.
fn again(place: Place, record: &Record) -> Place {
    Place::new(place.due() + interval(record), place.number())
}

fn workload(args: &RunArgs) -> Workload {
    Workload::new(args.dataset, args.periods, args.records, args.common.seed)
}

fn units_of(result: &Value) -> Result<u32> {
    let units = result["units"].as_u64().unwrap_or_default();
    Ok(u32::try_from(units)?)
}

/// The digest as text: JSON numbers are not exact beyond 53 bits everywhere.
fn shown(deliveries: Deliveries) -> Value {
    json!({ "count": deliveries.count, "digest": format!("{:016x}", deliveries.digest) })
}

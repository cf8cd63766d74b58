//! One run of one variant of the store in its own process: `bench sat-load` and `bench sat-cell`.
//!
//! Loading creates the steady state of the workload at minute 0; a cell continues from there. Every record is delivered
//! when it is due and written back unchanged, due again after its interval. A commit begins after a fixed number of
//! records and is durable before the one after the next is begun.

use crate::meter::Meter;
use anyhow::{Context, Result, ensure};
use base::disk::{DirectDisk, Disk, RealDisk};
use sat::{Batch, Buffers, Frame, Minute, Options, Resolution, Statistics, Store};
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;
use workload::limits::Limits;
use workload::usage::{drop_page_cache, resident_bytes_max};
use workload::{Dataset, Deliveries, Workload};

/// A store is warm after this many deliveries, however few minutes they took.
const WARM_RECORDS_MAX: u64 = 15_000_000;

/// Which records, and where.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Data {
    /// `zipf` or `peaked`
    #[arg(long, default_value = "peaked")]
    pub(crate) dataset: Dataset,
    /// The longest interval, in minutes
    #[arg(long, default_value_t = 576_000)]
    pub(crate) periods: u32,
    /// How many records
    #[arg(long, default_value_t = 15_000_000)]
    pub(crate) records: u32,
    /// The directory of the store
    #[arg(long)]
    pub(crate) directory: PathBuf,
    /// `satl`, `satl-strict`, `satl-naive` or `sat-linear`
    #[arg(long, default_value = "satl")]
    pub(crate) variant: String,
    /// Memory for write buffers
    #[arg(long, default_value_t = 32 << 20)]
    pub(crate) buffer_bytes: usize,
    /// Through the page cache instead of around it
    #[arg(long)]
    pub(crate) buffered: bool,
}

/// Loads the steady state.
#[derive(Debug, clap::Args)]
pub(crate) struct LoadArgs {
    #[command(flatten)]
    data: Data,
}

/// Runs one cell.
#[derive(Debug, clap::Args)]
pub(crate) struct CellArgs {
    #[command(flatten)]
    data: Data,
    /// Records a commit
    #[arg(long, default_value_t = 10_000)]
    commit: u32,
    /// Wait for each commit before anything else is done
    #[arg(long)]
    wait: bool,
    /// Minutes that are run before the measurement begins
    #[arg(long, default_value_t = 400)]
    warm_minutes: u32,
    /// Minutes to measure; without it as many as `--seconds` and `--checkpoints` ask for
    #[arg(long)]
    minutes: Option<u32>,
    /// Seconds to measure at least
    #[arg(long, default_value_t = 20.0)]
    seconds: f64,
    /// Checkpoints to see at least
    #[arg(long, default_value_t = 3)]
    checkpoints: u64,
    /// Limit of the block device, each way
    #[arg(long)]
    io_bytes_per_second: Option<u64>,
    /// Memory limit, page cache included
    #[arg(long)]
    memory_bytes: Option<u64>,
    /// Print how long each minute took
    #[arg(long)]
    trace: bool,
}

impl Data {
    pub(crate) fn workload(&self) -> Workload {
        Workload::new(self.dataset, self.periods, self.records, 1)
    }
    fn options(&self) -> Result<Options> {
        let mut options = Options::default();
        options.pool_bytes = self.buffer_bytes;
        options.strict = false;
        match self.variant.as_str() {
            "satl" => {}
            "satl-strict" => options.strict = true,
            // 250 buffers are open at once (Table 1): each gets its share.
            "satl-naive" => options.buffers = Buffers::Fixed { bytes: self.buffer_bytes / 250 },
            "sat-linear" => options.resolution = Resolution::linear(),
            other => anyhow::bail!("there is no variant `{other}`"),
        }
        Ok(options)
    }
    fn disk(&self) -> Arc<dyn Disk> {
        if self.buffered { Arc::new(RealDisk) } else { Arc::new(DirectDisk) }
    }
    fn open(&self, options: Options) -> Result<Store> {
        let opened = Store::open(self.disk(), &self.directory, options);
        opened.with_context(|| format!("cannot open `{}`", self.directory.display()))
    }
}

/// Makes a store with all records, each due as in steady state.
pub(crate) fn load(args: &LoadArgs) -> Result<()> {
    let workload = args.data.workload();
    let mut options = args.data.options()?;
    options.pool_bytes = options.pool_bytes.max(256 << 20);
    options.buffers = Buffers::Shared;
    // Sorted extents suit every variant; unsorted ones would cost strict timing a move each.
    options.strict = true;
    let mut store = args.data.open(options)?;
    for number in 0..workload.records() {
        store.offer(&workload.key(number), Minute(workload.due(number)), &workload.value(number))?;
        if number % 10_000 == 9_999 {
            store.begin_commit()?;
        }
        if number % 1_000_000 == 999_999 {
            store.settle()?;
            eprintln!("loaded {} records", number + 1);
        }
    }
    store.settle()?;
    ensure!(store.count() == u64::from(workload.records()), "all keys differ");
    store.close()?;
    Ok(())
}

/// Opens a store and prints how long that took and what it found, without closing it.
pub(crate) fn open(args: &LoadArgs) -> Result<()> {
    drop_page_cache().ok();
    let meter = Meter::start()?;
    let store = args.data.open(args.data.options()?)?;
    let (seconds, used) = (meter.seconds(), meter.used()?);
    let recovery = store.recovery();
    let object = json!({
        "system": "opening after kill -9",
        "records": store.count(),
        "processed": store.count(),
        "seconds": seconds,
        "records_per_second": store.count() as f64 / seconds,
        "cpu_seconds": used.cpu_seconds,
        "bytes_read": used.bytes_read,
        "bytes_written": used.bytes_written,
        "frames_replayed": recovery.frames_replayed,
        "bytes_cut": recovery.bytes_cut,
        "resident_bytes_max": resident_bytes_max()?,
    });
    println!("{object}");
    Ok(())
}

/// Runs one cell and prints its result.
pub(crate) fn run(args: &CellArgs) -> Result<()> {
    let limits =
        Limits { memory_bytes_max: args.memory_bytes, io_bytes_per_second_max: args.io_bytes_per_second };
    drop_page_cache().ok();
    let confinement = if limits.is_empty() { None } else { Some(limits.enter(&args.data.directory)) };
    if let Some(Err(error)) = &confinement {
        eprintln!("NOT LIMITED: {error}");
    }
    let limited = confinement.as_ref().is_none_or(Result::is_ok);
    let mut run = Run::new(args)?;
    run.warm(args.warm_minutes)?;
    run.wait_for_all()?;
    run.deliveries = Deliveries::default();
    let (meter, statistics) = (Meter::start()?, run.store.statistics());
    let mut minutes = 0;
    loop {
        run.minutes(1, args.trace)?;
        minutes += 1;
        let done = match args.minutes {
            Some(wanted) => minutes >= wanted,
            None => {
                let checkpoints = run.store.statistics().checkpoints - statistics.checkpoints;
                meter.seconds() >= args.seconds && checkpoints >= args.checkpoints
            }
        };
        if done {
            break;
        }
    }
    run.wait_for_all()?;
    run.store.checkpoint()?;
    print_result(args, &run, minutes, meter, statistics, limited)
}

struct Run<'a> {
    args: &'a CellArgs,
    store: Store,
    batch: Batch,
    deliveries: Deliveries,
    uncommitted: u32,
    last: Frame,
    minute: u32,
}

impl<'a> Run<'a> {
    fn new(args: &'a CellArgs) -> Result<Self> {
        let store = args.data.open(args.data.options()?)?;
        let minute = store.minute().0;
        let (batch, deliveries) = (Batch::new(), Deliveries::default());
        Ok(Self { args, store, batch, deliveries, uncommitted: 0, last: Frame(0), minute })
    }
    fn minutes(&mut self, minutes: u32, trace: bool) -> Result<()> {
        for _ in 0..minutes {
            let meter = trace.then(Meter::start).transpose()?;
            let count = self.deliveries.count;
            self.minute += 1;
            self.store.advance(Minute(self.minute));
            while self.store.next_due(&mut self.batch)? {
                self.write_back()?;
            }
            if let Some(meter) = meter {
                let seconds = meter.seconds();
                let count = self.deliveries.count - count;
                println!("{}", json!({ "minute": self.minute, "seconds": seconds, "delivered": count }));
            }
        }
        Ok(())
    }
    /// Runs this many minutes, or fewer if the store is warm earlier.
    fn warm(&mut self, minutes: u32) -> Result<()> {
        for _ in 0..minutes {
            if self.deliveries.count >= WARM_RECORDS_MAX {
                break;
            }
            self.minutes(1, false)?;
        }
        Ok(())
    }
    fn write_back(&mut self) -> Result<()> {
        let batch = std::mem::take(&mut self.batch);
        for record in batch.records() {
            let interval =
                u32::from_le_bytes(record.value[..4].try_into().context("a value has an interval")?);
            let due = Minute(record.due.0 + interval);
            self.store.update(record.number, record.key, due, record.value)?;
            self.deliveries.add(record.number.0, record.due.0);
            self.uncommitted += 1;
            if self.uncommitted == self.args.commit {
                self.commit()?;
            }
        }
        self.batch = batch;
        Ok(())
    }
    fn commit(&mut self) -> Result<()> {
        self.uncommitted = 0;
        let frame = self.store.begin_commit()?;
        self.store.wait(if self.args.wait { frame } else { self.last })?;
        self.last = frame;
        Ok(())
    }
    fn wait_for_all(&mut self) -> Result<()> {
        self.store.commit()?;
        Ok(())
    }
}

fn print_result(
    args: &CellArgs,
    run: &Run<'_>,
    minutes: u32,
    meter: Meter,
    before: Statistics,
    limited: bool,
) -> Result<()> {
    let (seconds, used) = (meter.seconds(), meter.used()?);
    let after = run.store.statistics();
    let processed = run.deliveries.count;
    let (files, needed) = run.store.data_bytes();
    let object = json!({
        "system": args.data.variant,
        "dataset": args.data.dataset.name(),
        "periods": args.data.periods,
        "buffer_bytes": args.data.buffer_bytes,
        "records": args.data.records,
        "processed": processed,
        "units": minutes,
        "seconds": seconds,
        "records_per_second": processed as f64 / seconds,
        "cpu_seconds": used.cpu_seconds,
        "cpu_microseconds_a_record": used.cpu_seconds * 1e6 / processed as f64,
        "bytes_read": used.bytes_read,
        "bytes_written": used.bytes_written,
        "commit_records": args.commit,
        "durable": true,
        "pipelined": !args.wait,
        "direct": !args.data.buffered,
        "limited": limited,
        "resident_bytes_max": resident_bytes_max()?,
        "moves_a_delivery": (after.moved - before.moved) as f64 / processed as f64,
        "from_memory": (after.from_memory - before.from_memory) as f64 / processed as f64,
        "reads": after.reads - before.reads,
        "extents_written": after.extents_written - before.extents_written,
        "flushes": after.flushes - before.flushes,
        "checkpoints": after.checkpoints - before.checkpoints,
        "data_bytes_read": after.data_bytes_read - before.data_bytes_read,
        "data_bytes_written": after.data_bytes_written - before.data_bytes_written,
        "log_bytes_written": after.log_bytes_written - before.log_bytes_written,
        "checkpoint_bytes_written": after.checkpoint_bytes_written - before.checkpoint_bytes_written,
        "data_file_bytes": files,
        "data_needed_bytes": needed,
    });
    println!("{object}");
    Ok(())
}

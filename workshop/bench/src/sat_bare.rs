//! The bare loop: moves as many bytes as a run of the store, in pieces of the same size, with checksums and syncs.
//!
//! It runs twice. *In turn* it does the work of each commit in sequence: reads (eight in flight), the run, the frame
//! with its sync, and sometimes a checkpoint. *At once* each kind of work has its own threads that never wait for each
//! other: no store can do that, but it is the maximum of the machine.

use crate::meter::Meter;
use anyhow::{Context, Result};
use base::disk::{AlignedBytes, BLOCK_BYTES, DirectDisk, Disk, DiskFile, Open};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Reads in flight at once, as in the store.
const READ_THREADS: u64 = 8;
/// Bytes that the store writes at once in a flush.
const RUN_BYTES: u64 = 2 << 20;
/// Files are overwritten from their start repeatedly.
const FILE_BYTES: u64 = 256 << 20;

/// Moves as many bytes as a measured run.
#[derive(Debug, clap::Args)]
pub(crate) struct BareArgs {
    /// The result of the run that is imitated, as `sat-cell` prints it
    #[arg(long)]
    imitate: String,
    /// A directory with data files of a store to read from
    #[arg(long)]
    directory: PathBuf,
    /// Everything at once instead of in turn
    #[arg(long)]
    at_once: bool,
}

/// What is moved.
#[derive(Clone, Copy, Debug)]
struct Plan {
    reads: u64,
    read_bytes: u64,
    runs: u64,
    frames: u64,
    frame_bytes: u64,
    checkpoints: u64,
    checkpoint_bytes: u64,
}

impl Plan {
    fn of(run: &Value) -> Result<Self> {
        let count = |name: &str| run[name].as_u64().with_context(|| format!("the run has no `{name}`"));
        let frames = (count("processed")? / count("commit_records")?).max(1);
        let (reads, checkpoints) = (count("reads")?.max(1), count("checkpoints")?.max(1));
        Ok(Self {
            reads,
            read_bytes: in_blocks(count("data_bytes_read")? / reads),
            runs: count("data_bytes_written")?.div_ceil(RUN_BYTES),
            frames,
            frame_bytes: in_blocks(count("log_bytes_written")? / frames),
            checkpoints,
            checkpoint_bytes: in_blocks(count("checkpoint_bytes_written")? / checkpoints),
        })
    }
}

fn in_blocks(bytes: u64) -> u64 {
    bytes.next_multiple_of(BLOCK_BYTES as u64).max(BLOCK_BYTES as u64)
}

/// Runs the loop and prints its result.
pub(crate) fn run(args: &BareArgs) -> Result<()> {
    let imitated: Value = serde_json::from_str(&args.imitate).context("`--imitate` is no JSON object")?;
    let plan = Plan::of(&imitated)?;
    let data = data_files(&args.directory)?;
    let log = written_file(&args.directory.join("bare-log"))?;
    let runs = written_file(&args.directory.join("bare-runs"))?;
    let checkpoint = written_file(&args.directory.join("bare-checkpoint"))?;
    let meter = Meter::start()?;
    let next = AtomicU64::new(0);
    let mut writers = [
        Writer::new(log, plan.frames, plan.frame_bytes, true),
        Writer::new(runs, plan.runs, RUN_BYTES, false),
        Writer::new(checkpoint, plan.checkpoints, plan.checkpoint_bytes, true),
    ];
    if args.at_once {
        at_once(&data, plan, &next, &mut writers)?;
    } else {
        in_turn(&data, plan, &next, &mut writers)?;
    }
    let processed = imitated["processed"].as_u64().unwrap_or(0);
    let (seconds, used) = (meter.seconds(), meter.used()?);
    for name in ["bare-log", "bare-runs", "bare-checkpoint"] {
        std::fs::remove_file(args.directory.join(name))?;
    }
    let mut object = imitated.clone();
    let changes = json!({
        "system": if args.at_once { "bare, at once" } else { "bare, in turn" },
        "seconds": seconds,
        "records_per_second": processed as f64 / seconds,
        "cpu_seconds": used.cpu_seconds,
        "bytes_read": used.bytes_read,
        "bytes_written": used.bytes_written,
    });
    if let (Some(object), Some(changes)) = (object.as_object_mut(), changes.as_object()) {
        object.extend(changes.clone());
    }
    println!("{object}");
    Ok(())
}

fn data_files(directory: &Path) -> Result<Vec<Arc<dyn DiskFile>>> {
    let paths = DirectDisk.list(directory)?;
    let is_data =
        |path: &&PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("data-"));
    paths.iter().filter(is_data).map(|path| Ok(DirectDisk.open(path, Open::Read)?)).collect()
}

/// A file with all blocks allocated, as in a store in use.
fn written_file(path: &Path) -> Result<Arc<dyn DiskFile>> {
    let file = DirectDisk.open(path, Open::CreateNew)?;
    let zeros = AlignedBytes::zeroed(4 << 20);
    for offset in (0..FILE_BYTES).step_by(zeros.len()) {
        file.write_at(offset, &zeros)?;
    }
    file.sync()?;
    Ok(file)
}

/// Every kind of work on its own threads.
fn at_once(data: &[Arc<dyn DiskFile>], plan: Plan, next: &AtomicU64, writers: &mut [Writer]) -> Result<()> {
    std::thread::scope(|scope| {
        let mut threads: Vec<_> =
            (0..READ_THREADS).map(|_| scope.spawn(|| read_until(data, plan, next, plan.reads))).collect();
        threads.extend(writers.iter_mut().map(|writer| scope.spawn(|| writer.write_until(1.0))));
        threads.into_iter().try_for_each(joined)
    })
}

/// In sequence, commit by commit.
fn in_turn(data: &[Arc<dyn DiskFile>], plan: Plan, next: &AtomicU64, writers: &mut [Writer]) -> Result<()> {
    for frame in 1..=plan.frames {
        let share = frame as f64 / plan.frames as f64;
        let until = plan.reads * frame / plan.frames;
        std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..READ_THREADS).map(|_| scope.spawn(|| read_until(data, plan, next, until))).collect();
            threads.into_iter().try_for_each(joined)
        })?;
        writers.iter_mut().try_for_each(|writer| writer.write_until(share))?;
    }
    Ok(())
}

fn joined(thread: std::thread::ScopedJoinHandle<'_, Result<()>>) -> Result<()> {
    thread.join().map_err(|_| anyhow::anyhow!("a thread panicked"))?
}

/// Reads until all threads together have done this many reads.
fn read_until(files: &[Arc<dyn DiskFile>], plan: Plan, next: &AtomicU64, until: u64) -> Result<()> {
    let mut buffer = AlignedBytes::zeroed(usize::try_from(plan.read_bytes)?);
    while let Ok(turn) =
        next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |turn| (turn < until).then_some(turn + 1))
    {
        let mut chance = base::chance::Chance::of(&[turn]);
        let file = &files[chance.index(files.len())];
        let blocks = (file.length()? - plan.read_bytes) / BLOCK_BYTES as u64;
        file.read_at(chance.below(blocks) * BLOCK_BYTES as u64, &mut buffer)?;
        std::hint::black_box(crc32c::crc32c(&buffer));
    }
    Ok(())
}

/// Writes pieces of one size, over and over the same file.
struct Writer {
    file: Arc<dyn DiskFile>,
    buffer: AlignedBytes,
    count: u64,
    done: u64,
    offset: u64,
    sync: bool,
}

impl Writer {
    fn new(file: Arc<dyn DiskFile>, count: u64, bytes: u64, sync: bool) -> Self {
        let buffer = AlignedBytes::zeroed(usize::try_from(bytes).unwrap_or(0));
        Self { file, buffer, count, done: 0, offset: 0, sync }
    }
    /// Writes until this share of all is done.
    fn write_until(&mut self, share: f64) -> Result<()> {
        while (self.done as f64) < share * self.count as f64 && self.done < self.count {
            let bytes = self.buffer.len() as u64;
            if self.offset + bytes > FILE_BYTES.max(bytes) {
                self.offset = 0;
            }
            self.buffer[0..8].copy_from_slice(&self.done.to_le_bytes());
            let sum = crc32c::crc32c(&self.buffer[16..]);
            self.buffer[8..12].copy_from_slice(&sum.to_le_bytes());
            self.file.write_at(self.offset, &self.buffer)?;
            if self.sync {
                self.file.sync()?;
            }
            self.offset += bytes;
            self.done += 1;
        }
        Ok(())
    }
}

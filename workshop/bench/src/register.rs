//! Insert-if-new: `bench register`, against stores that check and insert.

use crate::compare::{self, Peers};
use crate::meter::Meter;
use anyhow::{Result, ensure};
use base::disk::DirectDisk;
use sat::{Frame, Minute, Options, Store};
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;
use workload::Offers;
use workload::usage::resident_bytes_max;

/// Measure how fast new keys are distinguished from known ones and stored, against LMDB, RocksDB and others
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  cargo xtask bench register
  cargo xtask bench register --keys 1000000 --json")]
pub(crate) struct Args {
    /// Keys to offer; a fifth of them was offered before
    #[arg(long, default_value_t = 10_000_000)]
    keys: u32,
    /// Keys in a commit, each synced
    #[arg(long, default_value_t = 10_000)]
    commit: u32,
    /// Memory for buffers
    #[arg(long, default_value_t = 64 << 20)]
    buffer_bytes: usize,
    /// Print one object a line
    #[arg(long)]
    json: bool,
    /// Only these systems, by name
    #[arg(long, value_delimiter = ',')]
    systems: Vec<String>,
    /// Time limit for a peer, in seconds
    #[arg(long, default_value_t = 300)]
    seconds: u32,
    /// Where stores are made and removed
    #[arg(long)]
    directory: Option<PathBuf>,
}

/// Our side in its own process.
#[derive(Debug, clap::Args)]
pub(crate) struct CellArgs {
    #[arg(long)]
    keys: u32,
    #[arg(long)]
    commit: u32,
    #[arg(long)]
    buffer_bytes: usize,
    #[arg(long)]
    directory: PathBuf,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let directory = compare::work_directory(args.directory.as_deref(), "bench-sat")?;
    let numbers = [
        "--keys".to_owned(),
        args.keys.to_string(),
        "--commit".to_owned(),
        args.commit.to_string(),
        "--buffer-bytes".to_owned(),
        args.buffer_bytes.to_string(),
    ];
    let wanted = |name: &str| args.systems.is_empty() || args.systems.iter().any(|system| system == name);
    let mut results = Vec::new();
    if wanted("satl") {
        let mut command = compare::ourselves()?;
        command.arg("register-cell").args(&numbers).arg("--directory").arg(directory.join("register"));
        results.push(compare::result_of(&mut command)?);
        std::fs::remove_dir_all(directory.join("register"))?;
    }
    let peers = Peers::find();
    for system in peers.systems()?.iter().filter(|system| wanted(system)) {
        let mut command = peers.command("register", system);
        command.args(&numbers).args(["--seconds", &args.seconds.to_string()]);
        if compare::is_buffered(system) {
            command.arg("--memory-cgroup");
        }
        command.arg("--directory").arg(directory.join("peer"));
        match compare::result_of(&mut command) {
            Ok(result) => results.push(result),
            Err(error) => eprintln!("{system}: {error:#}"),
        }
        std::fs::remove_dir_all(directory.join("peer")).ok();
    }
    compare::print_results(&results, args.json, "keys/s");
    Ok(())
}

/// Offers all keys, settles as the store advises, and counts the answers.
pub(crate) fn cell(args: &CellArgs) -> Result<()> {
    let offers = Offers::new(1);
    let mut options = Options::default();
    // Fingerprints of offers that wait take 16 bytes each, and as much again while they are sorted.
    options.pending_max = args.buffer_bytes / 2 / 40;
    options.pool_bytes = args.buffer_bytes / 2 - options.read_bytes / 2;
    options.read_bytes /= 2;
    let mut store = Store::open(Arc::new(DirectDisk), &args.directory, options)?;
    let meter = Meter::start()?;
    let (mut new, mut known, mut settles) = (0_u64, 0_u64, 0);
    let mut settle = |store: &mut Store| -> Result<()> {
        let answers = store.settle()?;
        let fresh = answers.iter().filter(|answer| answer.is_new).count() as u64;
        new += fresh;
        known += answers.len() as u64 - fresh;
        settles += 1;
        Ok(())
    };
    let mut last = Frame(0);
    for offer in 0..args.keys {
        store.offer(&offers.key(offer), Minute(1), &[])?;
        if offer % args.commit == args.commit - 1 {
            let frame = store.begin_commit()?;
            store.wait(std::mem::replace(&mut last, frame))?;
            if store.pending() + args.commit as usize > args.buffer_bytes / 2 / 40 {
                settle(&mut store)?;
            }
        }
    }
    settle(&mut store)?;
    let (seconds, used) = (meter.seconds(), meter.used()?);
    ensure!(known == u64::from(offers.known_of(args.keys)), "{known} keys were known");
    let object = json!({
        "system": "satl",
        "records": args.keys,
        "processed": args.keys,
        "seconds": seconds,
        "records_per_second": f64::from(args.keys) / seconds,
        "cpu_seconds": used.cpu_seconds,
        "bytes_read": used.bytes_read,
        "bytes_written": used.bytes_written,
        "buffer_bytes": args.buffer_bytes,
        "commit_records": args.commit,
        "durable": true,
        "new": new,
        "known": known,
        "settles": settles,
        "complete": true,
        "resident_bytes_max": resident_bytes_max()?,
    });
    println!("{object}");
    Ok(())
}

//! The bare loop: reads and decompresses the same members with as many threads as there are workers, without any other
//! work.
//!
//! Their positions are known beforehand. A thread takes the next stretch of a file, reads it at once and unpacks its
//! members in place, so that all threads end together; the contents are ignored.

use crate::meter::Meter;
use crate::warc_pages::cannot;
use anyhow::{Context, Result, ensure};
use serde_json::json;
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The bare loop in a process of its own.
#[derive(Debug, clap::Args)]
pub(crate) struct BareArgs {
    /// The directory that the members are in
    #[arg(long)]
    archive: PathBuf,
    /// Where they are: file, offset, length, a line each
    #[arg(long)]
    members: PathBuf,
    /// Threads
    #[arg(long)]
    jobs: usize,
}

/// Bytes read at once.
const STRETCH_BYTES: u64 = 1 << 20;
/// What the longest page here fits into.
const ROOM_BYTES: usize = 16 << 20;

/// A stretch of a file and the members in it.
struct Stretch {
    file: Arc<File>,
    from: u64,
    to: u64,
    members: Vec<Range<usize>>,
}

pub(crate) fn bare(args: &BareArgs) -> Result<()> {
    let stretches = stretches(args)?;
    let (next, meter) = (AtomicUsize::new(0), Meter::start()?);
    let work = || {
        let (mut documents, mut bytes) = (0_u64, 0_u64);
        let (mut buffer, mut room) = (Vec::new(), vec![0; ROOM_BYTES]);
        let mut unpacker = libdeflater::Decompressor::new();
        while let Some(stretch) = stretches.get(next.fetch_add(1, Ordering::Relaxed)) {
            buffer.resize(usize::try_from(stretch.to - stretch.from)?, 0);
            stretch.file.read_exact_at(&mut buffer, stretch.from)?;
            for member in &stretch.members {
                let member = buffer.get(member.clone()).context("a member is in its stretch")?;
                bytes += unpacker.gzip_decompress(member, &mut room)? as u64;
                documents += 1;
            }
        }
        anyhow::Ok((documents, bytes))
    };
    let (mut documents, mut bytes) = (0, 0);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..args.jobs).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| {
            let (more, more_bytes) = thread.join().expect("a thread of the bare loop does not panic")?;
            documents += more;
            bytes += more_bytes;
            anyhow::Ok(())
        })
    })?;
    let (seconds, cpu_seconds) = (meter.seconds(), meter.used()?.cpu_seconds);
    println!(
        "{}",
        json!({ "documents": documents, "unpacked_bytes": bytes, "seconds": seconds, "cpu_seconds": cpu_seconds })
    );
    Ok(())
}

fn stretches(args: &BareArgs) -> Result<Vec<Stretch>> {
    let list = std::fs::read_to_string(&args.members).with_context(|| cannot("read", &args.members))?;
    let (mut stretches, mut open): (Vec<Stretch>, Option<(String, Arc<File>)>) = (Vec::new(), None);
    for line in list.lines() {
        let mut fields = line.split('\t');
        let (Some(name), Some(offset), Some(length)) = (fields.next(), fields.next(), fields.next()) else {
            anyhow::bail!("the list of members has another form");
        };
        let (offset, length) = (offset.parse::<u64>()?, length.parse::<u64>()?);
        let file = match &open {
            Some((opened, file)) if opened == name => Arc::clone(file),
            _ => {
                let path = args.archive.join(name);
                let file = Arc::new(File::open(&path).with_context(|| cannot("open", &path))?);
                open = Some((name.to_owned(), Arc::clone(&file)));
                file
            }
        };
        let is_near = |last: &Stretch| {
            Arc::ptr_eq(&last.file, &file)
                && offset >= last.to
                && offset + length - last.from <= STRETCH_BYTES
        };
        if !stretches.last().is_some_and(is_near) {
            stretches.push(Stretch { file, from: offset, to: offset, members: Vec::new() });
        }
        let last = stretches.last_mut().context("one was just added")?;
        let start = usize::try_from(offset - last.from)?;
        last.members.push(start..start + usize::try_from(length)?);
        last.to = offset + length;
    }
    ensure!(!stretches.is_empty(), "there are no members");
    Ok(stretches)
}

//! One system reading or writing in this process: `bench warc-cell`.

use crate::warc_pages::{self, cannot};
use anyhow::{Context, Result, bail, ensure};
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use warc::{Compression, Level, WarcReader, ZstdLevel};

/// Our side, and the bare loop, in a process of their own.
#[derive(Debug, clap::Args)]
pub(crate) struct CellArgs {
    /// `read`, `bare` or `write`
    #[arg(long)]
    task: String,
    /// `gzip` or `zstd`
    #[arg(long)]
    format: String,
    /// How hard to compress
    #[arg(long)]
    level: Option<u8>,
    /// The file to read or write
    #[arg(long)]
    file: PathBuf,
    /// The pages to write
    #[arg(long)]
    pages: Option<PathBuf>,
}

/// What was done.
#[derive(Clone, Copy, Debug, Default)]
struct Done {
    records: u64,
    content_bytes: u64,
}

/// A block is never longer than this here.
const BLOCK_BYTES_MAX: usize = 64 << 20;

/// What the longest member here fits into, and still fits into the cache beside its content.
const BUFFER_BYTES: usize = 1 << 20;
/// What the longest record here fits into.
const ROOM_BYTES: usize = 16 << 20;

pub(crate) fn run(args: &CellArgs) -> Result<()> {
    let before = cpu_seconds();
    let done = match args.task.as_str() {
        "read" => read(&args.file)?,
        "bare" => bare(&args.file, &args.format)?,
        "write" => write(args)?,
        other => bail!("there is no task `{other}`"),
    };
    let object = json!({
        "records": done.records,
        "content_bytes": done.content_bytes,
        "cpu_seconds": cpu_seconds() - before,
    });
    println!("{object}");
    Ok(())
}

/// Processor time of this process, in user space and in the kernel.
fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    // Both are small: no precision is lost that is there.
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Every record with its head taken apart and its block whole in memory.
fn read(file: &Path) -> Result<Done> {
    let mut reader =
        WarcReader::new(File::open(file).with_context(|| cannot("open", file))?, BLOCK_BYTES_MAX);
    let mut done = Done::default();
    while let Some(record) = reader.advance() {
        done.records += 1;
        done.content_bytes += record?.block.len() as u64;
    }
    Ok(done)
}

/// Every member decompressed where it lies in a large buffer, its length known beforehand; nothing looks at what comes
/// out.
fn bare(path: &Path, format: &str) -> Result<Done> {
    let lengths = fs::read(lengths_of(path)).context("cannot read the lengths")?;
    let lengths = lengths.chunks_exact(4).map(|bytes| bytes.try_into().map(u32::from_le_bytes));
    let mut file = File::open(path).with_context(|| cannot("open", path))?;
    let (mut buffer, mut unread) = (vec![0; BUFFER_BYTES], 0..0);
    let mut room = vec![0; ROOM_BYTES];
    let mut gzip = libdeflater::Decompressor::new();
    let mut zstd = zstd::bulk::Decompressor::new()?;
    let mut done = Done::default();
    for length in lengths {
        let length = length? as usize;
        if unread.len() < length {
            buffer.copy_within(unread.clone(), 0);
            unread = 0..unread.len();
            while unread.len() < length {
                let bytes = file.read(&mut buffer[unread.end..])?;
                ensure!(bytes > 0, "the file ends inside a member, or a member is longer than the buffer");
                unread.end += bytes;
            }
        }
        let member = &buffer[unread.start..unread.start + length];
        let made = match format {
            "gzip" => gzip.gzip_decompress(member, &mut room)?,
            _ => zstd.decompress_to_buffer(member, &mut room[..])?,
        };
        unread.start += length;
        done.records += 1;
        done.content_bytes += made as u64;
    }
    Ok(done)
}

/// Where the lengths of the members of a file are written down.
pub(crate) fn lengths_of(file: &Path) -> PathBuf {
    file.with_added_extension("lengths")
}

fn write(args: &CellArgs) -> Result<Done> {
    let pages = args.pages.as_deref().context("there are no pages to write")?;
    let records = warc_pages::write(pages, &args.file, compression(&args.format, args.level)?)?;
    Ok(Done { records, content_bytes: 0 })
}

/// The compression of that name; without a level the usual one.
pub(crate) fn compression(format: &str, level: Option<u8>) -> Result<Compression> {
    Ok(match format {
        "gzip" => Compression::Gzip(match level {
            Some(level) => Level::new(level).context("gzip has no such level")?,
            None => Level::DEFAULT,
        }),
        "zstd" => Compression::Zstd(match level {
            Some(level) => ZstdLevel::new(level).context("zstd has no such level")?,
            None => ZstdLevel::DEFAULT,
        }),
        other => bail!("there is no format `{other}`"),
    })
}

//! The archive of the data directory: every checksum, digest, length and index entry.

use super::super::{Context, told};
use crate::exit::Exit;
use crate::words::{bytes, count_of};
use anyhow::Context as _;
use archive::{Damage, Unfinished, Verified, VerifyEvent};
use base::disk::{Disk, RealDisk};
use node::directory::DataDirectory;
use serde_json::{Value, json};
use std::sync::Arc;

/// Verifies everything. It takes no lock, repairs nothing and can run beside a writer.
pub(super) fn verify(context: &Context) -> anyhow::Result<Exit> {
    let directory = DataDirectory::open_reader(&context.node.data)?;
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let spool = context.node.spool(None);
    let verified = {
        let progress = context.output.progress("verifying bytes", None);
        let mut tell = |told: VerifyEvent| match told {
            VerifyEvent::Progress { done_bytes, total_bytes } => {
                progress.set(done_bytes, &format!("of {}", bytes(total_bytes)));
            }
            VerifyEvent::Damage(damage) => context.output.result(&to_json(&damage), || in_words(&damage)),
            VerifyEvent::Unfinished(end) => {
                context.output.result(&unfinished_json(&end), || unfinished_in_words(&end));
            }
        };
        archive::verify(&disk, &directory.archive_path(), &spool, &mut tell)
    };
    let verified = verified.context("cannot verify the archive")?;
    context.output.result(&summary(&verified), || summary_in_words(&verified));
    if verified.damaged == 0 {
        return Ok(Exit::Done);
    }
    context
        .output
        .note("restore damaged archive files from a copy; `utsushi rebuild index` repairs an index");
    Ok(Exit::Found)
}

fn to_json(damage: &Damage) -> Value {
    let Damage { path, offset, what } = damage;
    json!({ "event": "damaged", "file": path.to_string_lossy(), "offset": offset, "what": what })
}

fn in_words(damage: &Damage) -> String {
    let place = damage.offset.map(|offset| format!(" at byte {offset}")).unwrap_or_default();
    format!("damaged: `{}`{place}: {}", damage.path.display(), damage.what)
}

fn unfinished_json(end: &Unfinished) -> Value {
    let Unfinished { path, offset, bytes } = end;
    json!({ "event": "unfinished", "file": path.to_string_lossy(), "offset": offset, "bytes": bytes })
}

fn unfinished_in_words(end: &Unfinished) -> String {
    let Unfinished { path, offset, bytes } = end;
    format!(
        "unfinished: `{}` at byte {offset}: {} after the last complete capture, never acknowledged; the next writer removes them",
        path.display(),
        count_of(*bytes, "byte")
    )
}

fn summary(verified: &Verified) -> Value {
    let Verified { files, bytes, records, captures, others, indexed, damaged, unfinished } = verified;
    json!({ "summary": {
        "files": files, "bytes": bytes, "records": records, "captures": captures, "others": others,
        "indexed": indexed, "damaged": damaged, "unfinished": unfinished,
    }})
}

fn summary_in_words(verified: &Verified) -> String {
    let Verified { files, bytes: length, records, captures, others, indexed, damaged, .. } = *verified;
    let (files, records) = (count_of(files, "file"), count_of(records, "record"));
    let found = if damaged == 0 { "all as stored".to_owned() } else { count_of(damaged, "damaged place") };
    let (captures, others) = (count_of(captures, "capture"), told::others(others));
    format!("{files}, {}, {records}; {captures}{others}, {indexed} in the index: {found}", bytes(length))
}

//! WARC files from any source: whether they conform to the standard, clause by clause.

use super::super::Context;
use crate::exit::Exit;
use crate::words::count_of;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use warc::check::{Check, CheckSummary, Finding, Severity};

/// How often the same advice is shown to people; programs get all of it.
const ADVICE_SHOWN: u64 = 3;

/// Checks each file. One that cannot be read does not affect the others.
pub(super) fn verify(paths: &[PathBuf], context: &Context) -> anyhow::Result<Exit> {
    let mut exit = Exit::Done;
    for path in paths {
        match check(path, context) {
            Ok(summary) => {
                context.output.result(&summary_json(path, &summary), || summary_text(path, &summary));
                if !summary.is_valid() && exit == Exit::Done {
                    exit = Exit::Found;
                }
            }
            Err(error) => {
                context.output.complaint(format!("utsushi: cannot read `{}`: {error}", path.display()));
                exit = Exit::CouldNot;
            }
        }
    }
    if exit == Exit::CouldNot {
        context.output.complaint("what to do: give files that exist and are readable");
    }
    Ok(exit)
}

fn check(path: &Path, context: &Context) -> io::Result<CheckSummary> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let progress = context.output.progress("records checked", None);
    let mut check = Check::new(file);
    let mut advice: BTreeMap<&'static str, u64> = BTreeMap::new();
    while let Some(finding) = check.next() {
        let finding = finding?;
        progress.set(check.summary().records, "");
        if finding.severity == Severity::Advice && !context.output.json() {
            let count = advice.entry(finding.clause_number()).or_default();
            *count += 1;
            if *count > ADVICE_SHOWN {
                continue;
            }
        }
        context.output.result(&to_json(path, &finding), || format!("{}: {finding}", path.display()));
    }
    for (clause, count) in advice.into_iter().filter(|(_, count)| *count > ADVICE_SHOWN) {
        let more = count - ADVICE_SHOWN;
        context
            .output
            .line(format!("{}: advice: the same clause {clause}, {more} more times", path.display()));
    }
    Ok(check.summary().clone())
}

fn to_json(path: &Path, finding: &Finding) -> Value {
    let severity = match finding.severity {
        Severity::Advice => "advice",
        Severity::Error => "error",
    };
    json!({
        "file": path.to_string_lossy(),
        "offset": finding.offset,
        "record": finding.record,
        "id": finding.id,
        "severity": severity,
        "edition": finding.edition.to_string(),
        "clause": finding.clause_number(),
        "subject": finding.clause.subject(),
        "what": finding.what,
    })
}

fn summary_json(path: &Path, summary: &CheckSummary) -> Value {
    json!({ "summary": {
        "file": path.to_string_lossy(),
        "records": summary.records,
        "types": summary.types,
        "members": summary.members,
        "bytes": summary.bytes,
        "block_bytes": summary.block_bytes,
        "errors": summary.errors,
        "advice": summary.advice,
    }})
}

fn summary_text(path: &Path, summary: &CheckSummary) -> String {
    let found = match (summary.errors, summary.advice) {
        (0, 0) => "valid".to_owned(),
        (0, advice) => format!("valid; advice: {advice}"),
        (errors, advice) => format!("not valid; errors: {errors}, advice: {advice}"),
    };
    format!("{}: {}, {found}", path.display(), count_of(summary.records, "record"))
}

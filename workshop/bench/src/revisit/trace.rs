//! Recorded histories of pages: when each appeared, changed and vanished.

use super::replay::number;
use anyhow::{Context, Result, ensure};
use flate2::read::MultiGzDecoder;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// What the names of the files of a trace end in.
const EVENTS: &str = ".events.tsv.gz";
const PAGES: &str = ".pages.tsv.gz";
/// No trace is larger unpacked.
const TRACE_BYTES_MAX: u64 = 4 << 30;

/// From when to when, in seconds since 1970; else from the first event to the last.
pub(crate) type Window = (Option<f64>, Option<f64>);

/// What happened to a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Appeared,
    Changed,
    Vanished,
}

/// The pages of one site over a window of time.
#[derive(Clone, Debug)]
pub(crate) struct Trace {
    pub(crate) name: String,
    /// Seconds since 1970.
    pub(crate) from: f64,
    pub(crate) to: f64,
    /// The path of each page, or its number.
    pub(crate) paths: Vec<String>,
    /// Whether it exists when the window begins.
    pub(crate) begins: Vec<bool>,
    /// In time order.
    pub(crate) events: Vec<(f64, u32, Event)>,
}

impl Trace {
    /// All traces in a directory, by name. One that has nothing in the window is left out, aloud.
    pub(crate) fn read_all(directory: &Path, window: Window) -> Result<Vec<Self>> {
        let entries = std::fs::read_dir(directory)
            .with_context(|| format!("cannot read the directory of traces `{}`", directory.display()))?;
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter_map(|name| name.strip_suffix(EVENTS).map(str::to_owned))
            .collect();
        names.sort();
        ensure!(!names.is_empty(), "no file in `{}` is named NAME{EVENTS}", directory.display());
        let mut traces = Vec::new();
        for name in &names {
            let trace = Self::read(directory, name, window)?;
            if trace.is_empty() {
                eprintln!("{name}: LEFT OUT, for it has no page in this window");
            } else {
                traces.push(trace);
            }
        }
        ensure!(!traces.is_empty(), "no trace in `{}` has a page in this window", directory.display());
        Ok(traces)
    }
    fn read(directory: &Path, name: &str, window: Window) -> Result<Self> {
        let listed = directory.join(format!("{name}{PAGES}"));
        let listed = if listed.exists() { unpacked(&listed)? } else { String::new() };
        let events = directory.join(format!("{name}{EVENTS}"));
        Self::parse(name, &unpacked(&events)?, &listed, window)
            .with_context(|| format!("cannot use `{}`", events.display()))
    }
    /// Reads a trace from the text of its two files. A page without a path is called by its number.
    pub(crate) fn parse(name: &str, events: &str, listed: &str, (from, to): Window) -> Result<Self> {
        let paths: HashMap<&str, &str> = listed.lines().filter_map(|line| line.split_once('\t')).collect();
        let (mut names, mut numbers) = (Vec::new(), HashMap::new());
        let mut read = Vec::new();
        for (place, line) in events.lines().enumerate().filter(|(_, line)| !line.is_empty()) {
            let (at, page, event) = event(line).with_context(|| {
                format!(
                    "line {}: `{line}` is no event; want seconds, page and A, M or D between tabs",
                    place + 1
                )
            })?;
            let number = *numbers.entry(page).or_insert_with(|| {
                names.push((*paths.get(page).unwrap_or(&page)).to_owned());
                number(names.len() - 1)
            });
            read.push((at, number, event));
        }
        let (first, last) = (read.iter().map(|event| event.0), read.iter().map(|event| event.0));
        let from = from.unwrap_or_else(|| first.fold(f64::MAX, f64::min));
        let to = to.unwrap_or_else(|| last.fold(0.0, f64::max));
        Ok(Self::of(name, (from, to), names, read))
    }
    /// A trace of given events: in order of time, those of one page in the same second collapsed to the last (D20), and
    /// of those before the window only which pages exist when it begins.
    pub(crate) fn of(
        name: &str,
        (from, to): (f64, f64),
        paths: Vec<String>,
        mut events: Vec<(f64, u32, Event)>,
    ) -> Self {
        events.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut begins = vec![false; paths.len()];
        let mut last: Vec<Option<usize>> = vec![None; paths.len()];
        let mut kept: Vec<(f64, u32, Event)> = Vec::with_capacity(events.len());
        for event in events.into_iter().filter(|event| event.0 < to) {
            let page = event.1 as usize;
            if event.0 < from {
                begins[page] = event.2 != Event::Vanished;
                continue;
            }
            match last[page] {
                Some(at) if kept[at].0.floor() == event.0.floor() => kept[at].2 = event.2,
                _ => {
                    last[page] = Some(kept.len());
                    kept.push(event);
                }
            }
        }
        Self { name: name.to_owned(), from, to, paths, begins, events: kept }
    }
    /// Whether no page exists in the window.
    fn is_empty(&self) -> bool {
        let appears = |event: &(f64, u32, Event)| event.2 != Event::Vanished;
        self.from >= self.to || !(self.begins.contains(&true) || self.events.iter().any(appears))
    }
    /// When the part of the window begins that is scored: the last three quarters.
    pub(crate) fn scored_from(&self) -> f64 {
        self.from + (self.to - self.from) / 4.0
    }
}

fn event(line: &str) -> Option<(f64, &str, Event)> {
    let mut fields = line.trim_end().split('\t');
    let at: u32 = fields.next()?.parse().ok()?;
    let page = fields.next().filter(|page| !page.is_empty())?;
    let event = match fields.next()? {
        "A" => Event::Appeared,
        "M" => Event::Changed,
        "D" => Event::Vanished,
        _ => return None,
    };
    Some((f64::from(at), page, event))
}

fn unpacked(path: &Path) -> Result<String> {
    let read = || -> Result<String> {
        let mut bytes = Vec::new();
        MultiGzDecoder::new(File::open(path)?).take(TRACE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
        ensure!(bytes.len() as u64 <= TRACE_BYTES_MAX, "it is larger than {TRACE_BYTES_MAX} bytes unpacked");
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    read().with_context(|| format!("cannot read `{}`", path.display()))
}

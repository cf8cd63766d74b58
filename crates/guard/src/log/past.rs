//! What the log says of the day so far.

use crate::gate::Target;
use crate::request::server_of;
use serde_json::Value;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// Longer lines are not ours.
const LINE_BYTES_MAX: u64 = 16 * 1024;

/// What went through on a day.
#[derive(Debug, Default)]
pub(crate) struct Past {
    /// Requests and bytes, by address and server.
    pub(crate) counts: HashMap<(String, String), (u64, u64)>,
    /// Lines that could not be read: cut off by a crash or a full disk.
    pub(crate) unread: u64,
}

impl Past {
    /// Reads the log of a day; one that does not exist says nothing.
    pub(super) fn read(path: &Path) -> io::Result<Self> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(error),
        };
        let mut past = Self::default();
        let mut reader = BufReader::new(file);
        let mut line = Vec::new();
        loop {
            line.clear();
            if reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line)? == 0 {
                return Ok(past);
            }
            past.count(line.trim_ascii());
        }
    }

    /// What was counted, with addresses and servers as such.
    pub(crate) fn targets(&self) -> impl Iterator<Item = (Target, u64, u64)> {
        self.counts.iter().filter_map(|((address, server), (requests, bytes))| {
            let target = Target::new(address.parse().ok()?, server_of(server).ok()?);
            Some((target, *requests, *bytes))
        })
    }

    fn count(&mut self, line: &[u8]) {
        if line.is_empty() {
            return;
        }
        let Ok(Value::Object(fields)) = serde_json::from_slice(line) else {
            self.unread += 1;
            return;
        };
        let text = |name: &str| fields.get(name).and_then(Value::as_str);
        let (Some(event), Some(address), Some(server)) = (text("event"), text("address"), text("server"))
        else {
            return;
        };
        let bytes = fields.get("bytes").and_then(Value::as_u64).unwrap_or(0);
        let requests = u64::from(event == "passed");
        if requests + bytes > 0 {
            let counts = self.counts.entry((address.to_owned(), server.to_owned())).or_default();
            *counts = (counts.0.saturating_add(requests), counts.1.saturating_add(bytes));
        }
    }
}

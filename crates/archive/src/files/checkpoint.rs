//! Checkpoints: the position in the archive up to which a stage has processed it.
//!
//! A checkpoint is written as `FILE@OFFSET`. A stage stores this text together with its results and continues from it
//! (D3).
//!
//! **Invariant:** a stored text is empty (nothing processed yet), a checkpoint, or an error. A text that cannot be
//! read never means "from the beginning".

use crate::capture::entry::{Entry, Location};
use crate::error::CheckpointError;
use crate::files::name;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// A position in order of arrival: every capture before it has been processed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Checkpoint {
    file: Arc<str>,
    offset: u64,
}

impl Checkpoint {
    pub(crate) fn at(file: &Arc<str>, offset: u64) -> Self {
        Self { file: Arc::clone(file), offset }
    }
    /// The position just before the record at a location.
    #[must_use]
    pub fn before(location: &Location) -> Self {
        Self::at(&location.file, location.offset)
    }
    /// The position just after a capture.
    #[must_use]
    pub fn after(entry: &Entry) -> Self {
        Self::at(&entry.location.file, entry.location.offset + entry.group_bytes)
    }
    /// The checkpoint that a stage has stored; `None` if the text is empty, that is, if none is stored.
    ///
    /// # Errors
    /// When the text is neither empty nor a checkpoint.
    pub fn stored(text: &str) -> Result<Option<Self>, CheckpointError> {
        if text.is_empty() { Ok(None) } else { text.parse().map(Some) }
    }
    /// The archive file, by the name that it has when it is finished.
    #[must_use]
    pub fn file(&self) -> &Arc<str> {
        &self.file
    }
    /// The offset in it.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }
    /// Whether the record at `location` has been processed, that is, whether it starts before this position.
    #[must_use]
    pub fn is_after(&self, location: &Location) -> bool {
        (&location.file, location.offset) < (&self.file, self.offset)
    }

    fn read(text: &str) -> Option<Self> {
        let (file, offset) = text.rsplit_once('@').filter(|(file, _)| name::is_name(file))?;
        let is_plain = offset.bytes().all(|byte| byte.is_ascii_digit());
        let offset = offset.parse().ok().filter(|_| is_plain)?;
        Some(Self { file: file.strip_suffix(name::OPEN).unwrap_or(file).into(), offset })
    }
}

impl fmt::Display for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.file, self.offset)
    }
}

impl FromStr for Checkpoint {
    type Err = CheckpointError;

    /// Reads what [`fmt::Display`] writes: `FILE@OFFSET`, where the file has a name that an archive gives.
    fn from_str(text: &str) -> Result<Self, CheckpointError> {
        Self::read(text).ok_or_else(|| CheckpointError { text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_is_read_as_it_is_written_and_nothing_else_is() {
        let file = "utsushi-20261115231600123456-00000.warc.gz";
        let checkpoint = Checkpoint { file: file.into(), offset: 337 };
        assert_eq!(checkpoint.to_string().parse(), Ok(checkpoint));
        for text in ["", "@", "@3", file, "x@3", &format!("{file}@"), &format!("{file}@+3"), "a/b.warc.gz@1"]
        {
            assert_eq!(text.parse::<Checkpoint>(), Err(CheckpointError { text: text.to_owned() }));
        }
    }

    #[test]
    fn none_stored_differs_from_unreadable() {
        assert_eq!(Checkpoint::stored(""), Ok(None));
        let file = "utsushi-20261115231600123456-00000.warc.gz";
        assert_eq!(Checkpoint::stored(&format!("{file}@7")), Ok(Some(Checkpoint::at(&file.into(), 7))));
        let error = Checkpoint::stored("rubbish\u{1b}[2J").unwrap_err().to_string();
        assert!(
            error.contains("rubbish") && !error.contains('\u{1b}') && error.contains("rebuild"),
            "{error}"
        );
    }

    #[test]
    fn checkpoints_are_ordered_by_file_then_by_offset() {
        let at = |count: u32, offset| Checkpoint {
            file: format!("utsushi-20261115231600123456-{count:05}.warc.gz").into(),
            offset,
        };
        assert!(at(0, 900) < at(1, 0) && at(1, 9) < at(1, 10) && at(9, 0) < at(10, 0));
    }
}

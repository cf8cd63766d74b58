//! The name by which the socket is bound and reached, however deep its directory lies.
//!
//! The system takes no name of a socket that is longer than 107 bytes. A longer one is reached through the open directory.

use super::FILE_NAME;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

/// As much as fits into `sun_path`, its last byte, which is nought, aside.
const NAME_BYTES_MAX: usize = 107;

/// A name of the socket, good as long as this lives.
#[derive(Debug)]
pub(super) struct Name {
    path: PathBuf,
    _directory: Option<File>,
}

impl Name {
    /// The name of `file` in a directory.
    pub(super) fn of(directory: &Path, file: &str) -> io::Result<Self> {
        let path = directory.join(file);
        if path.as_os_str().len() <= NAME_BYTES_MAX {
            return Ok(Self { path, _directory: None });
        }
        let open = File::open(directory)?;
        let path = PathBuf::from(format!("/proc/self/fd/{}/{file}", open.as_raw_fd()));
        Ok(Self { path, _directory: Some(open) })
    }
    /// The name of the socket in a data directory.
    pub(super) fn of_control(directory: &Path) -> io::Result<Self> {
        Self::of(directory, FILE_NAME)
    }
    /// The name as a path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

//! The path by which the socket is bound and reached, however deep its directory is.
//!
//! A Unix socket path has at most 107 bytes. A longer one is reached through the open directory.

use super::FILE_NAME;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

/// The length of `sun_path` without its terminating zero.
const NAME_BYTES_MAX: usize = 107;

/// A path of the socket, valid as long as this lives.
#[derive(Debug)]
pub(super) struct Name {
    path: PathBuf,
    _directory: Option<File>,
}

impl Name {
    /// The path of `file` in a directory.
    pub(super) fn of(directory: &Path, file: &str) -> io::Result<Self> {
        let path = directory.join(file);
        if path.as_os_str().len() <= NAME_BYTES_MAX {
            return Ok(Self { path, _directory: None });
        }
        let open = File::open(directory)?;
        let path = PathBuf::from(format!("/proc/self/fd/{}/{file}", open.as_raw_fd()));
        Ok(Self { path, _directory: Some(open) })
    }
    /// The path of the socket in a data directory.
    pub(super) fn of_control(directory: &Path) -> io::Result<Self> {
        Self::of(directory, FILE_NAME)
    }
    /// The path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

//! The machine's own file system.

use super::{Disk, DiskFile, Open, create_private_directory, private_options};
use rustix::fs::FallocateFlags;
use rustix::io::Errno;
use std::fs::{self, DirEntry, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The machine's file system. What it creates is private: directories 0750, files 0640, reduced by the umask.
///
/// Errors are those of the operating system, without path or action: the caller adds both.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::new(RealFile::open(path, how)?))
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }
    fn list(&self, directory: &Path) -> io::Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            if is_file(&entry)? {
                files.push(entry.path());
            }
        }
        files.sort_unstable();
        Ok(files)
    }
    fn create_directory(&self, path: &Path) -> io::Result<()> {
        create_private_directory(path)
    }
    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }
    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        // `f_bavail`, because `f_bfree` also counts blocks reserved for the superuser.
        let room = rustix::fs::statvfs(path)?;
        Ok(room.f_bavail.saturating_mul(room.f_frsize))
    }
}

/// A link counts as its target.
fn is_file(entry: &DirEntry) -> io::Result<bool> {
    let kind = entry.file_type()?;
    Ok(kind.is_file() || (kind.is_symlink() && entry.path().is_file()))
}

#[derive(Debug)]
pub(super) struct RealFile(pub(super) File);

impl DiskFile for RealFile {
    fn as_file(&self) -> Option<&File> {
        Some(&self.0)
    }
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.0.read_exact_at(buffer, offset)
    }
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all_at(bytes, offset)
    }
    /// `fdatasync`, not `fsync`: it syncs the data and the metadata needed to read it back, such as the length and
    /// blocks of a grown, truncated or allocated file. It leaves out timestamps, which are never read here and cost a
    /// second journal write per batch.
    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }
    fn length(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }
    fn truncate(&self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }
    /// Where the file system cannot reserve room, the file is only grown. Its length and zeros are then as promised,
    /// but a later write may still fail for lack of space.
    fn allocate(&self, length: u64) -> io::Result<()> {
        if length == 0 {
            return Ok(());
        }
        match rustix::io::retry_on_intr(|| rustix::fs::fallocate(&self.0, FallocateFlags::empty(), 0, length))
        {
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => self.grow(length),
            done => Ok(done?),
        }
    }
}

impl RealFile {
    pub(super) fn open(path: &Path, how: Open) -> io::Result<Self> {
        let mut options = private_options();
        options.read(true).write(how != Open::Read).create_new(how == Open::CreateNew);
        Ok(Self(options.open(path)?))
    }
    fn grow(&self, length: u64) -> io::Result<()> {
        if self.length()? < length { self.truncate(length) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growing_instead_of_reserving_never_truncates() {
        let file = RealFile(tempfile::tempfile().unwrap());
        file.write_at(0, b"0123456789").unwrap();
        file.grow(4).unwrap();
        assert_eq!(file.length().unwrap(), 10);
        file.grow(12).unwrap();
        let mut bytes = [1; 12];
        file.read_at(0, &mut bytes).unwrap();
        assert_eq!(&bytes, b"0123456789\0\0");
    }

    #[test]
    fn links_are_listed_if_their_target_is_a_file() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::write(at("b"), b"").unwrap();
        fs::create_dir(at("c")).unwrap();
        std::os::unix::fs::symlink(at("b"), at("a")).unwrap();
        std::os::unix::fs::symlink(at("c"), at("d")).unwrap();
        std::os::unix::fs::symlink(at("nowhere"), at("e")).unwrap();
        assert_eq!(RealDisk.list(directory.path()).unwrap(), [at("a"), at("b")]);
    }
}

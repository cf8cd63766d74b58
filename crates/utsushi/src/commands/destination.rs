//! The destination of a result: standard output, or a file that gets its name only once it is complete.

use crate::exit::Advised;
use crate::output::Output;
use anyhow::Context as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// The size of the write buffer.
const BUFFER_BYTES: usize = 256 * 1024;

/// The destination of bytes.
pub(crate) enum Destination<'a> {
    /// Standard output, not a terminal.
    Stream(Box<dyn Write + Send + 'a>),
    /// A file.
    File(BufWriter<Unfinished>),
}

impl<'a> Destination<'a> {
    /// The file at `path`, or standard output if there is none. A terminal is refused.
    pub(crate) fn open(output: &'a Output, path: Option<&Path>) -> anyhow::Result<Self> {
        if let Some(path) = path {
            return Ok(Self::File(BufWriter::with_capacity(BUFFER_BYTES, Unfinished::create(path)?)));
        }
        let bytes = output.bytes().ok_or_else(|| {
            let advice = "write to a file with `-o FILE`, or use a pipe";
            Advised::new("cannot show this on a terminal", advice, anyhow::anyhow!("it is not plain text"))
        })?;
        Ok(Self::Stream(Box::new(BufWriter::with_capacity(BUFFER_BYTES, bytes))))
    }

    /// The same for printable lines, which may be shown on a terminal.
    pub(crate) fn open_text(output: &'a Output, path: Option<&Path>) -> anyhow::Result<Self> {
        match path {
            Some(_) => Self::open(output, path),
            None => {
                Ok(Self::Stream(Box::new(BufWriter::with_capacity(BUFFER_BYTES, output.printable_lines()))))
            }
        }
    }

    /// The file, if the output is seekable.
    pub(crate) fn seekable(&mut self) -> Option<&mut BufWriter<Unfinished>> {
        match self {
            Self::File(file) if file.get_ref().part.is_some() => Some(file),
            Self::File(_) | Self::Stream(_) => None,
        }
    }

    /// Gives the file its name, durably.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        match self {
            Self::Stream(mut stream) => stream.flush().context("cannot write to standard output"),
            Self::File(file) => file.into_inner().map_err(io::IntoInnerError::into_error)?.finish(),
        }
    }
}

impl Write for Destination<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stream(stream) => stream.write(bytes),
            Self::File(file) => file.write(bytes),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stream(stream) => stream.flush(),
            Self::File(file) => file.flush(),
        }
    }
}

/// A file under a temporary name, removed if it is not completed.
#[derive(Debug)]
pub(crate) struct Unfinished {
    file: File,
    path: PathBuf,
    /// Its temporary name; `None` if the path is not a regular file, such as `/dev/null`, which is written directly.
    part: Option<PathBuf>,
}

impl Unfinished {
    /// Creates the file for `path`.
    pub(crate) fn create(path: &Path) -> anyhow::Result<Self> {
        let cannot = |source: io::Error| {
            let advice = "choose a file in a directory that exists and is writable";
            Advised::new(format!("cannot write `{}`", path.display()), advice, source)
        };
        let part = match fs::metadata(path) {
            Ok(found) if found.is_dir() => return Err(cannot(io::ErrorKind::IsADirectory.into()).into()),
            Ok(found) if !found.is_file() => None,
            _ => Some(part_of(path)),
        };
        let mut options = OpenOptions::new();
        let file = match &part {
            Some(part) => options.read(true).write(true).create(true).truncate(true).open(part),
            None => options.write(true).open(path),
        };
        Ok(Self { file: file.map_err(cannot)?, path: path.to_owned(), part })
    }

    /// Makes it durable under its final name.
    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        let Some(part) = self.part.take() else { return Ok(()) };
        let named = self.file.sync_all().and_then(|()| fs::rename(&part, &self.path));
        let synced = named.and_then(|()| File::open(directory_of(&self.path))?.sync_all());
        if synced.is_err() {
            self.part = Some(part);
        }
        synced.with_context(|| format!("cannot write `{}`", self.path.display()))
    }
}

/// Not hidden, so that its disk usage is easy to find.
fn part_of(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    path.with_file_name(name)
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

impl Write for Unfinished {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Read for Unfinished {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read(buffer)
    }
}

impl Seek for Unfinished {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(part) = self.part.take() {
            let _ = fs::remove_file(part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_its_name_only_once_it_is_whole() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("result");
        let names = || fs::read_dir(place.path()).unwrap().count();
        fs::write(&path, "before").unwrap();
        let mut given_up = Unfinished::create(&path).unwrap();
        given_up.write_all(b"half").unwrap();
        assert_eq!((fs::read(&path).unwrap().as_slice(), names()), (&b"before"[..], 2));
        drop(given_up);
        assert_eq!((fs::read(&path).unwrap().as_slice(), names()), (&b"before"[..], 1));
        let mut whole = Unfinished::create(&path).unwrap();
        whole.write_all(b"whole").unwrap();
        whole.finish().unwrap();
        assert_eq!((fs::read(&path).unwrap().as_slice(), names()), (&b"whole"[..], 1));
    }

    #[test]
    fn what_is_no_regular_file_is_not_replaced() {
        let mut null = Unfinished::create(Path::new("/dev/null")).unwrap();
        null.write_all(b"nobody reads this").unwrap();
        null.finish().unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        assert!(Unfinished::create(Path::new("/")).is_err());
    }
}

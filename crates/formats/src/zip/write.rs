//! Writes entries in sequence, each of any length.
//!
//! The header of an entry is written with its sizes open, and again when they are known. Its sizes are in a zip64
//! field, so that an entry may grow beyond 4 GiB. For old readers, the directory has such a field only for entries that
//! are, or are located, beyond 4 GiB.

use super::*;
use crate::Error;
use base::Timestamp;
use libdeflater::Crc;
use sha2::{Digest as _, Sha256};
use std::io::{self, Seek, SeekFrom, Write};

/// A ZIP file that is being written.
pub(crate) struct ZipWriter<W> {
    out: W,
    position: u64,
    /// The date of all entries, as ZIP writes it.
    date: u32,
    entries: Vec<Entry>,
}

/// An entry that was written.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) bytes: u64,
    /// SHA-256 in hexadecimal.
    pub(crate) sha256: String,
    crc: u32,
    offset: u64,
}

impl<W: Write + Seek> ZipWriter<W> {
    /// Begins a file whose entries are all of `created`. `out` stands at its beginning.
    pub(crate) fn new(out: W, created: Timestamp) -> Self {
        Self { out, position: 0, date: dos_date(created), entries: Vec::new() }
    }

    /// Writes an entry of what `fill` writes.
    pub(crate) fn entry<T>(
        &mut self,
        name: &'static str,
        fill: impl FnOnce(&mut EntryWriter<'_, W>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let offset = self.position;
        self.put(&local_header(name, self.date, 0, 0)).map_err(failed())?;
        let mut writer = EntryWriter { zip: self, bytes: 0, crc: Crc::new(), sha256: Sha256::new() };
        let result = fill(&mut writer)?;
        let EntryWriter { bytes, crc, sha256, .. } = writer;
        let sha256 = hex(&sha256.finalize());
        let entry = Entry { name, bytes, sha256, crc: crc.sum(), offset };
        self.rewrite_header(&entry).map_err(failed())?;
        self.entries.push(entry);
        Ok(result)
    }

    fn rewrite_header(&mut self, entry: &Entry) -> io::Result<()> {
        self.out.seek(SeekFrom::Start(entry.offset))?;
        self.out.write_all(&local_header(entry.name, self.date, entry.crc, entry.bytes))?;
        self.out.seek(SeekFrom::Start(self.position)).map(drop)
    }

    /// The entries so far.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Writes the directory.
    pub(crate) fn finish(mut self) -> Result<(), Error> {
        let start = self.position;
        let mut directory: Vec<u8> = Vec::new();
        for entry in &self.entries {
            directory.extend(central_header(entry, self.date));
        }
        let end = start + directory.len() as u64;
        directory.extend(end_records(self.entries.len() as u64, start, end));
        self.put(&directory).and_then(|()| self.out.flush()).map_err(failed())
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.position += bytes.len() as u64;
        Ok(())
    }
}

/// Takes the bytes of one entry.
pub(crate) struct EntryWriter<'a, W> {
    zip: &'a mut ZipWriter<W>,
    bytes: u64,
    crc: Crc,
    sha256: Sha256,
}

impl<W: Write + Seek> Write for EntryWriter<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.zip.put(bytes)?;
        self.bytes += bytes.len() as u64;
        self.crc.update(bytes);
        self.sha256.update(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        self.zip.out.flush()
    }
}

fn failed() -> impl Fn(io::Error) -> Error {
    Error::io("write the package")
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn local_header(name: &str, date: u32, crc: u32, bytes: u64) -> Vec<u8> {
    let mut header = Vec::with_capacity(LOCAL_BYTES + name.len() + 20);
    put32(&mut header, LOCAL);
    put16(&mut header, VERSION64);
    put16(&mut header, FLAG_UTF8);
    put16(&mut header, STORED);
    put32(&mut header, date);
    put32(&mut header, crc);
    put32(&mut header, LARGE32);
    put32(&mut header, LARGE32);
    put16(&mut header, short(name));
    put16(&mut header, 20);
    header.extend_from_slice(name.as_bytes());
    put_extra(&mut header, &[bytes, bytes]);
    header
}

fn central_header(entry: &Entry, date: u32) -> Vec<u8> {
    let mut large = Vec::new();
    let mut number = |value: u64| {
        u32::try_from(value).ok().filter(|small| *small != LARGE32).unwrap_or_else(|| {
            large.push(value);
            LARGE32
        })
    };
    // The order in which large numbers follow in the extra field.
    let (size, compressed, offset) = (number(entry.bytes), number(entry.bytes), number(entry.offset));
    let mut header = Vec::with_capacity(CENTRAL_BYTES + entry.name.len() + 28);
    put32(&mut header, CENTRAL);
    // Made on Unix, so that the mode below is one.
    put16(&mut header, 3 << 8 | VERSION64);
    put16(&mut header, VERSION64);
    put16(&mut header, FLAG_UTF8);
    put16(&mut header, STORED);
    put32(&mut header, date);
    put32(&mut header, entry.crc);
    put32(&mut header, compressed);
    put32(&mut header, size);
    put16(&mut header, short(entry.name));
    put16(
        &mut header,
        if large.is_empty() { 0 } else { 4 + 8 * u16::try_from(large.len()).unwrap_or_default() },
    );
    // No comment, the first disk, no internal attributes.
    header.extend_from_slice(&[0; 6]);
    put32(&mut header, 0o100_644 << 16);
    put32(&mut header, offset);
    header.extend_from_slice(entry.name.as_bytes());
    put_extra(&mut header, &large);
    header
}

fn put_extra(header: &mut Vec<u8>, numbers: &[u64]) {
    if numbers.is_empty() {
        return;
    }
    put16(header, EXTRA64);
    put16(header, 8 * u16::try_from(numbers.len()).unwrap_or_default());
    numbers.iter().for_each(|number| header.extend_from_slice(&number.to_le_bytes()));
}

fn end_records(count: u64, start: u64, end: u64) -> Vec<u8> {
    let small16 = u16::try_from(count).ok().filter(|small| *small != LARGE16);
    let small32 = |value: u64| u32::try_from(value).ok().filter(|small| *small != LARGE32);
    let (bytes, offset) = (small32(end - start), small32(start));
    let mut records = Vec::new();
    if small16.is_none() || bytes.is_none() || offset.is_none() {
        put32(&mut records, END64);
        records.extend_from_slice(&(END64_BYTES as u64 - 12).to_le_bytes());
        put16(&mut records, 3 << 8 | VERSION64);
        put16(&mut records, VERSION64);
        records.extend_from_slice(&[0; 8]);
        [count, count, end - start, start].iter().for_each(|n| records.extend_from_slice(&n.to_le_bytes()));
        put32(&mut records, LOCATOR64);
        put32(&mut records, 0);
        records.extend_from_slice(&end.to_le_bytes());
        put32(&mut records, 1);
    }
    put32(&mut records, END);
    records.extend_from_slice(&[0; 4]);
    put16(&mut records, small16.unwrap_or(LARGE16));
    put16(&mut records, small16.unwrap_or(LARGE16));
    put32(&mut records, bytes.unwrap_or(LARGE32));
    put32(&mut records, offset.unwrap_or(LARGE32));
    put16(&mut records, 0);
    records
}

fn put16(bytes: &mut Vec<u8>, value: u16) {
    bytes.extend_from_slice(&value.to_le_bytes());
}

fn put32(bytes: &mut Vec<u8>, value: u32) {
    bytes.extend_from_slice(&value.to_le_bytes());
}

fn short(name: &str) -> u16 {
    u16::try_from(name.len()).expect("the names of entries are ours and short")
}

/// Time and date in the form of MS-DOS, which knows 1980 to 2107 and every other second.
fn dos_date(at: Timestamp) -> u32 {
    let civil = at.civil();
    let year = u32::try_from(civil.year()).unwrap_or(1980).clamp(1980, 2107) - 1980;
    let part = |value: i8| u32::try_from(value).unwrap_or_default();
    let date = year << 9 | part(civil.month()) << 5 | part(civil.day());
    let time = part(civil.hour()) << 11 | part(civil.minute()) << 5 | (part(civil.second()) / 2);
    date << 16 | time
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zip::read::ZipReader;
    use std::fs::File;
    use std::io::{Cursor, Read as _};

    const LARGE: &str = "archive/large.warc";
    const SMALL: &str = "pages/pages.jsonl";
    const HOLE_BYTES: u64 = 5 << 30;

    /// A file with an entry that is mostly a hole, and one after it.
    fn write_large(mut file: &File) -> u64 {
        let header = local_header(LARGE, 0, 0, 0).len() as u64;
        let bytes = HOLE_BYTES - header;
        file.write_all(&local_header(LARGE, 0, 0, bytes)).unwrap();
        file.seek(SeekFrom::Start(HOLE_BYTES)).unwrap();
        let large = Entry { name: LARGE, bytes, sha256: String::new(), crc: 0, offset: 0 };
        let mut zip = ZipWriter { out: file, position: HOLE_BYTES, date: 0, entries: vec![large] };
        zip.entry(SMALL, |entry| entry.write_all(b"small").map_err(failed())).unwrap();
        zip.finish().unwrap();
        bytes
    }

    #[test]
    fn entries_of_and_beyond_four_gigabytes_are_found_again() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let bytes = write_large(file.as_file());
        let mut zip = ZipReader::open(file.as_file()).unwrap();
        let entries = zip.entries().to_vec();
        let found: Vec<_> = entries.iter().map(|entry| (entry.name.as_str(), entry.bytes)).collect();
        assert_eq!(found, [(LARGE, bytes), (SMALL, 5)]);
        let mut text = String::new();
        zip.content(&entries[1]).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "small");
        let mut start = [7; 4];
        zip.content(&entries[0]).unwrap().read_exact(&mut start).unwrap();
        assert_eq!(start, [0; 4]);
        check_with_python(file.path(), bytes);
    }

    /// The module `zipfile` reads the same; `UTSUSHI_PYTHON` names a Python.
    fn check_with_python(path: &std::path::Path, bytes: u64) {
        let Some(python) = std::env::var_os("UTSUSHI_PYTHON").filter(|python| !python.is_empty()) else {
            let what = "zip64 by Python's `zipfile`, because `UTSUSHI_PYTHON` does not say where it is";
            let _ = writeln!(std::io::stderr(), "NOT TESTED: {what}");
            return;
        };
        let script = "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); \
                      print([i.file_size for i in z.infolist()], z.read('pages/pages.jsonl'), \
                      z.open('archive/large.warc').read(2))";
        let output = std::process::Command::new(python).args(["-c", script]).arg(path).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let expected = format!("[{bytes}, 5] b'small' b'\\x00\\x00'");
        assert_eq!(said.trim(), expected, "{}", String::from_utf8_lossy(&output.stderr));
    }

    #[test]
    fn more_entries_than_two_bytes_count_are_found_again() {
        let mut file = Cursor::new(Vec::new());
        let mut zip = ZipWriter::new(&mut file, Timestamp::MIN);
        for number in 0..70_000 {
            let name: &'static str = Box::leak(format!("archive/{number}.warc").into_boxed_str());
            zip.entry(name, |_| Ok(())).unwrap();
        }
        zip.finish().unwrap();
        assert_eq!(ZipReader::open(file).unwrap().entries().len(), 70_000);
    }

    #[test]
    fn dates_are_those_of_the_file_within_what_zip_can_say() {
        let date = |text: &str| dos_date(text.parse().unwrap());
        assert_eq!(date("2026-03-31T09:05:07Z"), (46 << 9 | 3 << 5 | 31) << 16 | (9 << 11 | 5 << 5 | 3));
        assert_eq!(date("1970-01-01T00:00:00Z") >> 25, 0, "nothing is before 1980");
        assert_eq!(date("2200-01-01T00:00:00Z") >> 25, 127, "nor after 2107");
    }
}

//! Reads a foreign package: its WARC files one by one, and what its manifest says about them.
//!
//! A missing or wrong manifest is reported, and the captures can still be read; an inconsistent ZIP file is refused
//! (see [`crate::zip::read`]).

use super::{MANIFEST, MANIFEST_DIGEST};
use crate::Error;
use crate::zip::read::{self as zip, Entry, Stored, ZipReader};
use crate::zip::write::hex;
use sha2::{Digest as _, Sha256};
use std::collections::HashSet;
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// The longest manifest that is read: some 40,000 entries.
const MANIFEST_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Maximum number of mismatches reported; after that the manifest is clearly wrong.
const MISMATCHES_MAX: usize = 1_000;
/// Suffixes of files with captures.
const WARC_ENDS: [&str; 5] = [".warc", ".warc.gz", ".warc.zst", ".arc", ".arc.gz"];
const COPY_BYTES: usize = 64 * 1024;

/// A package whose directory was read.
#[derive(Debug)]
pub struct Package<R> {
    zip: ZipReader<R>,
}

/// A file of captures in a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WarcEntry(Entry);

impl WarcEntry {
    /// Its name in the package: for display only, never a path (H17).
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }
    /// Its length.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.bytes
    }
}

impl<R: Read + Seek> Package<R> {
    /// Reads the directory of the package.
    pub fn open(file: R) -> Result<Self, Error> {
        Ok(Self { zip: ZipReader::open(file)? })
    }

    /// The files of captures, in the order of the package.
    #[must_use]
    pub fn warcs(&self) -> Vec<WarcEntry> {
        let is_warc = |entry: &&Entry| {
            let name = entry.name.to_ascii_lowercase();
            name.starts_with("archive/") && WARC_ENDS.iter().any(|end| name.ends_with(end))
        };
        self.zip.entries().iter().filter(is_warc).cloned().map(WarcEntry).collect()
    }

    /// Reads one of [`Package::warcs`].
    pub fn read(&mut self, entry: &WarcEntry) -> Result<Content<'_, R>, Error> {
        Ok(Content(self.zip.content(&entry.0)?))
    }

    /// Compares everything with the manifest, and the manifest with its digest: reads the whole package once.
    pub fn check(&mut self) -> Result<Vec<Mismatch>, Error> {
        let mut found = Vec::new();
        let manifest = match self.small(MANIFEST)? {
            Ok(manifest) => manifest,
            Err(what) => return Ok(vec![Mismatch::new(MANIFEST, what)]),
        };
        match self.small(MANIFEST_DIGEST)? {
            Ok(digest) => found.extend(check_manifest(&manifest, &digest)),
            // It should be there, but is optional.
            Err(What::Missing) => {}
            Err(what) => found.push(Mismatch::new(MANIFEST_DIGEST, what)),
        }
        let manifest: Manifest = match serde_json::from_slice(&manifest) {
            Ok(manifest) => manifest,
            Err(_) => {
                found.push(Mismatch::new(MANIFEST, What::Malformed));
                return Ok(found);
            }
        };
        self.check_resources(&manifest, &mut found)?;
        Ok(found)
    }

    /// Each entry is read once, however often the manifest names it.
    fn check_resources(&mut self, manifest: &Manifest, found: &mut Vec<Mismatch>) -> Result<(), Error> {
        let mut listed = HashSet::new();
        for resource in &manifest.resources {
            let what = if listed.insert(&resource.path) {
                self.check_resource(resource)?
            } else {
                Some(What::Twice)
            };
            found.extend(what.map(|what| Mismatch::new(&resource.path, what)));
            if found.len() >= MISMATCHES_MAX {
                return Ok(());
            }
        }
        for warc in self.warcs() {
            if !listed.contains(&warc.0.name) {
                found.push(Mismatch::new(warc.name(), What::NotListed));
            }
        }
        Ok(())
    }

    fn entry(&self, name: &str) -> Option<Entry> {
        self.zip.entry(name).cloned()
    }

    /// The bytes of an entry that is short, or what is wrong with it.
    fn small(&mut self, name: &str) -> Result<Result<Vec<u8>, What>, Error> {
        let Some(entry) = self.entry(name) else { return Ok(Err(What::Missing)) };
        let content = match self.zip.content(&entry) {
            Err(Error::Entry { .. }) => return Ok(Err(What::Damaged)),
            other => other?,
        };
        let mut bytes = Vec::new();
        Ok(match content.take(MANIFEST_BYTES_MAX + 1).read_to_end(&mut bytes) {
            Err(_) => Err(What::Damaged),
            Ok(_) if bytes.len() as u64 > MANIFEST_BYTES_MAX => Err(What::Malformed),
            Ok(_) => Ok(bytes),
        })
    }

    fn check_resource(&mut self, resource: &Resource) -> Result<Option<What>, Error> {
        let Some(entry) = self.entry(&resource.path) else { return Ok(Some(What::Missing)) };
        let Some(expected) = sha256_of(&resource.hash) else { return Ok(Some(What::OtherHash)) };
        if resource.bytes.is_some_and(|bytes| bytes != entry.bytes) {
            return Ok(Some(What::Length));
        }
        let mut content = match self.zip.content(&entry) {
            Err(Error::Entry { .. }) => return Ok(Some(What::Damaged)),
            other => other?,
        };
        Ok(match sha256(&mut content) {
            Err(_) => Some(What::Damaged),
            Ok(found) => (!found.eq_ignore_ascii_case(expected)).then_some(What::Digest),
        })
    }
}

fn check_manifest(manifest: &[u8], digest: &[u8]) -> Option<Mismatch> {
    let Ok(digest) = serde_json::from_slice::<ManifestDigest>(digest) else {
        return Some(Mismatch::new(MANIFEST_DIGEST, What::Malformed));
    };
    match sha256_of(&digest.hash) {
        None => Some(Mismatch::new(MANIFEST, What::OtherHash)),
        Some(expected) if hex(&Sha256::digest(manifest)).eq_ignore_ascii_case(expected) => None,
        Some(_) => Some(Mismatch::new(MANIFEST, What::Digest)),
    }
}

fn sha256_of(hash: &str) -> Option<&str> {
    hash.strip_prefix("sha256:").or_else(|| hash.strip_prefix("sha-256:"))
}

fn sha256(content: &mut impl Read) -> io::Result<String> {
    let mut digest = Sha256::new();
    let mut buffer = vec![0; COPY_BYTES];
    loop {
        match content.read(&mut buffer)? {
            0 => return Ok(hex(&digest.finalize())),
            read => digest.update(buffer.get(..read).unwrap_or_default()),
        }
    }
}

#[derive(serde::Deserialize)]
struct Manifest {
    resources: Vec<Resource>,
}

#[derive(serde::Deserialize)]
struct Resource {
    path: String,
    #[serde(default)]
    hash: String,
    bytes: Option<u64>,
}

#[derive(serde::Deserialize)]
struct ManifestDigest {
    hash: String,
}

/// A difference between a package and its manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    path: String,
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Missing,
    Malformed,
    Damaged,
    Length,
    Digest,
    OtherHash,
    Twice,
    NotListed,
}

impl Mismatch {
    fn new(path: &str, what: What) -> Self {
        Self { path: path.to_owned(), what }
    }
    /// Whether the entry could not be compared.
    #[must_use]
    pub fn is_unchecked(&self) -> bool {
        self.what == What::OtherHash
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.what {
            What::Missing => "is missing",
            What::Malformed => "cannot be parsed",
            What::Damaged => "is damaged",
            What::Length => "has another length than the manifest says",
            What::Digest => "has another SHA-256 than the stated one",
            What::OtherHash => "has no SHA-256 to compare with",
            What::Twice => "is twice in the manifest",
            What::NotListed => "is not in the manifest",
        };
        write!(f, "`{}` {what}", base::printable(&self.path))
    }
}

/// The bytes of a file in a package.
pub struct Content<'a, R>(zip::Content<'a, R>);

impl<'a, R: Read + Seek> Content<'a, R> {
    /// The same for random access. A stored entry is read in place; a deflated one, which a WACZ should not use for
    /// captures, is first decompressed to a file without a name in `directory`.
    pub fn seekable(self, directory: &Path) -> Result<Seekable<'a, R>, Error> {
        match self.0 {
            zip::Content::Stored(stored) => Ok(Seekable(Way::Stored(stored))),
            zip::Content::Deflated(mut deflated) => {
                let file = spooled(&mut deflated, directory);
                Ok(Seekable(Way::Spooled(file.map_err(Error::io("decompress an entry of the package"))?)))
            }
        }
    }
}

fn spooled(bytes: &mut impl Read, directory: &Path) -> io::Result<File> {
    let mut file = tempfile::tempfile_in(directory)?;
    io::copy(bytes, &mut file)?;
    file.rewind()?;
    Ok(file)
}

impl<R: Read> Read for Content<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl<R> fmt::Debug for Content<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Content")
    }
}

/// The bytes of a file in a package, to be read in any order.
pub struct Seekable<'a, R>(Way<'a, R>);

enum Way<'a, R> {
    Stored(Stored<'a, R>),
    Spooled(File),
}

impl<R: Read> Read for Seekable<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.0 {
            Way::Stored(stored) => stored.read(buffer),
            Way::Spooled(file) => file.read(buffer),
        }
    }
}

impl<R: Read + Seek> Seek for Seekable<'_, R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match &mut self.0 {
            Way::Stored(stored) => stored.seek(to),
            Way::Spooled(file) => file.seek(to),
        }
    }
}

impl<R> fmt::Debug for Seekable<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seekable")
    }
}

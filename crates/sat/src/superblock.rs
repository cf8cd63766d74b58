//! The superblock: names the current checkpoint. Two copies in two blocks of one file, written and synced in sequence.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `SATSTORE` |
//! | 4 | format version |
//! | 4 | checksum of the version and of what follows, with its place |
//! | 8 | store |
//! | 16 | secret of the fingerprints |
//! | 8 | generation of the checkpoint |
//! | 8 | bytes of the checkpoint |

use crate::checksum::{Kind, Place};
use crate::error::{Error, Result, Trying};
use crate::files::Files;
use base::disk::{AlignedBytes, BLOCK_BYTES, DiskFile, Open};

const MAGIC: &[u8; 8] = b"SATSTORE";
/// The version that is read and written here.
pub(crate) const VERSION: u32 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Superblock {
    pub(crate) store: u64,
    pub(crate) secret: [u8; 16],
    pub(crate) generation: u64,
    pub(crate) checkpoint_bytes: u64,
}

impl Superblock {
    /// Writes both copies, each durable before the next is touched.
    pub(crate) fn write(&self, files: &Files, file: &dyn DiskFile) -> Result<()> {
        let path = files.superblock();
        for copy in 0..2 {
            let offset = copy * BLOCK_BYTES as u64;
            file.write_at(offset, &self.block(offset)).trying("write to", &path)?;
            file.sync().trying("sync", &path)?;
        }
        Ok(())
    }
    fn block(&self, offset: u64) -> AlignedBytes {
        let mut block = AlignedBytes::zeroed(BLOCK_BYTES);
        block[0..8].copy_from_slice(MAGIC);
        block[8..12].copy_from_slice(&VERSION.to_le_bytes());
        block[16..24].copy_from_slice(&self.store.to_le_bytes());
        block[24..40].copy_from_slice(&self.secret);
        block[40..48].copy_from_slice(&self.generation.to_le_bytes());
        block[48..56].copy_from_slice(&self.checkpoint_bytes.to_le_bytes());
        let sum = place(offset).checksum(&[&block[8..12], &block[16..]]);
        block[12..16].copy_from_slice(&sum.to_le_bytes());
        block
    }
    /// The newer of the two copies that are whole.
    pub(crate) fn read(files: &Files, file: &dyn DiskFile) -> Result<Self> {
        let path = files.superblock();
        let mut found: Option<Self> = None;
        for copy in 0..2 {
            let offset = copy * BLOCK_BYTES as u64;
            let mut block = AlignedBytes::zeroed(BLOCK_BYTES);
            match file.read_at(offset, &mut block) {
                Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => continue,
                read => read.trying("read", &path)?,
            }
            if let Some(whole) = Self::parse(&block, offset, files)?
                && found.is_none_or(|other| other.generation < whole.generation)
            {
                found = Some(whole);
            }
        }
        found.ok_or(Error::Damaged { path, offset: 0, what: "neither copy of the superblock is whole" })
    }
    /// The superblock as it is now, if there is one that can be read.
    pub(crate) fn current(files: &Files) -> Option<Self> {
        let file = files.open(&files.superblock(), Open::Read).ok()?;
        Self::read(files, &*file).ok()
    }
    fn parse(block: &[u8], offset: u64, files: &Files) -> Result<Option<Self>> {
        let double = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| block[at + byte]));
        let sum = place(offset).checksum(&[&block[8..12], &block[16..]]);
        if &block[0..8] != MAGIC || block[12..16] != sum.to_le_bytes() {
            return Ok(None);
        }
        let version = u32::from_le_bytes(std::array::from_fn(|byte| block[8 + byte]));
        if version != VERSION {
            return Err(Error::Version { path: files.superblock(), found: version, known: VERSION });
        }
        let secret = std::array::from_fn(|byte| block[24 + byte]);
        Ok(Some(Self { store: double(16), secret, generation: double(40), checkpoint_bytes: double(48) }))
    }
}

fn place(offset: u64) -> Place {
    Place { store: 0, kind: Kind::Superblock, file: 0, offset }
}

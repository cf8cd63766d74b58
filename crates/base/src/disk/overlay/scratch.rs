//! Room for changed blocks: memory first, then a temporary file.

use crate::disk::BLOCK_BYTES;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::sync::atomic::{AtomicU64, Ordering};

/// One block.
pub(super) type Block = [u8; BLOCK_BYTES];

/// Blocks, each with a number.
#[derive(Debug)]
pub(super) struct Scratch {
    memory: Vec<Box<Block>>,
    memory_blocks_max: usize,
    /// Blocks beyond those in memory.
    file: Option<File>,
    file_blocks: u64,
    /// Numbers that can be given again.
    free: Vec<u64>,
}

impl Scratch {
    pub(super) fn new(memory_bytes_max: usize) -> Self {
        let memory_blocks_max = memory_bytes_max / BLOCK_BYTES;
        Self { memory: Vec::new(), memory_blocks_max, file: None, file_blocks: 0, free: Vec::new() }
    }
    /// Stores a block and returns its number.
    pub(super) fn add(&mut self, block: &Block) -> io::Result<u64> {
        if let Some(number) = self.free.pop() {
            self.write(number, block)?;
            return Ok(number);
        }
        if self.memory.len() < self.memory_blocks_max {
            self.memory.push(Box::new(*block));
            return Ok(self.memory.len() as u64 - 1);
        }
        let number = self.memory.len() as u64 + self.file_blocks;
        self.file_blocks += 1;
        self.write(number, block)?;
        Ok(number)
    }
    /// Replaces a block.
    pub(super) fn write(&mut self, number: u64, block: &Block) -> io::Result<()> {
        if let Some(held) = usize::try_from(number).ok().and_then(|at| self.memory.get_mut(at)) {
            held.copy_from_slice(block);
            return Ok(());
        }
        let offset = self.offset(number);
        self.file()?.write_all_at(block, offset)
    }
    /// Reads a block.
    pub(super) fn read(&mut self, number: u64) -> io::Result<Block> {
        if let Some(held) = usize::try_from(number).ok().and_then(|at| self.memory.get(at)) {
            return Ok(**held);
        }
        let (offset, mut block) = (self.offset(number), [0; BLOCK_BYTES]);
        self.file()?.read_exact_at(&mut block, offset)?;
        Ok(block)
    }
    /// Frees the room of a block.
    pub(super) fn release(&mut self, number: u64) {
        self.free.push(number);
    }
    fn offset(&self, number: u64) -> u64 {
        (number - self.memory.len() as u64) * BLOCK_BYTES as u64
    }
    fn file(&mut self) -> io::Result<&File> {
        if self.file.is_none() {
            self.file = Some(unnamed()?);
        }
        self.file.as_ref().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// A temporary file that only this process can reach.
fn unnamed() -> io::Result<File> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    loop {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("utsushi-scratch-{}-{count}", std::process::id()));
        match File::options().read(true).write(true).create_new(true).mode(0o600).open(&path) {
            Ok(file) => {
                fs::remove_file(&path)?;
                return Ok(file);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

//! Memory: whatever a file claims or unpacks to, a reader takes its buffers, a head and a block of at most its maximum.
#![expect(unsafe_code, reason = "an allocator that counts is the only way to see what is allocated")]

use crate::file;
use base::Chance;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{Cursor, Write};
use warc::WarcReader;

struct Counting;

thread_local! {
    static LIVE: Cell<i64> = const { Cell::new(0) };
    static PEAK: Cell<i64> = const { Cell::new(0) };
}

fn count(change: i64) {
    let live = LIVE.get() + change;
    LIVE.set(live);
    PEAK.set(PEAK.get().max(live));
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed() as i64);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size().cast_signed() as i64));
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most that this thread held at once while `work` ran.
fn peak_bytes(work: impl FnOnce()) -> i64 {
    LIVE.set(0);
    PEAK.set(0);
    work();
    PEAK.get()
}

const BLOCK_BYTES_MAX: usize = 100_000;
/// Two buffers and a window, what inflating needs, a head as it is read and as fields, and the block; less than their
/// sum, because they are not all needed at once.
const BYTES_MAX: i64 =
    128 * 1024 + 64 * 1024 + 4 * warc::header::HEAD_BYTES_MAX as i64 + BLOCK_BYTES_MAX as i64;

#[track_caller]
fn check(bytes: &[u8]) {
    let peak = peak_bytes(|| WarcReader::new(bytes, BLOCK_BYTES_MAX).for_each(drop));
    assert!(peak <= BYTES_MAX, "{peak} of {BYTES_MAX} bytes");
}

/// The same for the validator, which keeps no block but more of a head, and an ARC reader.
const CHECK_BYTES_MAX: i64 = 128 * 1024 + 64 * 1024 + 8 * warc::header::HEAD_BYTES_MAX as i64;

#[track_caller]
fn check_validator(bytes: &[u8]) {
    let peak = peak_bytes(|| warc::check::Check::new(Cursor::new(bytes)).for_each(drop));
    assert!(peak <= CHECK_BYTES_MAX, "{peak} of {CHECK_BYTES_MAX} bytes");
    let peak = peak_bytes(|| warc::arc::ArcReader::new(Cursor::new(bytes), BLOCK_BYTES_MAX).for_each(drop));
    assert!(peak <= BYTES_MAX, "{peak} of {BYTES_MAX} bytes");
}

const BOMB_BYTES: usize = 128 * 1024 * 1024;

fn write_bomb(mut to: impl Write) {
    write!(to, "WARC/1.1\r\nWARC-Type: response\r\nContent-Length: {BOMB_BYTES}\r\n\r\n").unwrap();
    (0..BOMB_BYTES / 1024).for_each(|_| to.write_all(&[0; 1024]).unwrap());
    to.write_all(b"\r\n\r\n").unwrap();
}

#[test]
fn a_bomb_takes_no_more_than_its_caps() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    write_bomb(&mut encoder);
    let bomb = encoder.finish().unwrap();
    assert!(bomb.len() < BOMB_BYTES / 100);
    check(&bomb);
    check_validator(&bomb);
    let peak = peak_bytes(|| drop(warc::Record::from_member(&bomb, 0, BLOCK_BYTES_MAX, None)));
    assert!(peak <= BYTES_MAX, "{peak} of {BYTES_MAX} bytes");

    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    write_bomb(&mut encoder);
    check(&encoder.finish().unwrap());
}

#[test]
fn many_records_in_one_member_take_no_more_than_one() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    for _ in 0..20 {
        let block = vec![b'x'; 1_000_000];
        write!(encoder, "WARC/1.1\r\nContent-Length: {}\r\n\r\n", block.len()).unwrap();
        encoder.write_all(&block).unwrap();
        encoder.write_all(b"\r\n\r\n").unwrap();
    }
    check(&encoder.finish().unwrap());
}

#[test]
fn claims_take_nothing() {
    let check = |bytes: &[u8]| {
        check(bytes);
        check_validator(bytes);
    };
    check(b"WARC/1.1\r\nContent-Length: 18446744073709551615\r\n\r\nx");
    check(b"WARC/1.1\r\nContent-Length: 9999999999999\r\n\r\nx");
    check(&[b"WARC/1.1\r\n".to_vec(), vec![b'a'; 10_000_000]].concat());
    check(&[b"WARC/1.1\r\na: b\r\n".to_vec(), b" \x01\r\n".repeat(60_000), b"\r\n".to_vec()].concat());
    check(&[b"\x1f\x8b\x08\x08\0\0\0\0\0\0".to_vec(), vec![b'a'; 10_000_000]].concat());
}

#[test]
fn broken_files_take_no_more_than_whole_ones() {
    let (_, bytes) = file(&[b"first", &[7; 300_000], b"third"]);
    check(&bytes);
    for seed in 0..300 {
        let mut chance = Chance::new(seed);
        let mut broken = bytes.clone();
        (0..3).for_each(|_| broken[chance.index(bytes.len())] = chance.bits().to_le_bytes()[0]);
        check(&broken);
    }
}

//! Memory: that of a longer snapshot is on disk.
#![expect(unsafe_code, reason = "an allocator that counts is the only way to see what is allocated")]

use crate::files::Files;
use formats::parquet::Table;
use formats::{Picker, Row, cdxj};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io;

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

/// Rows of pages of their own, in no order.
fn rows(like: &Row, count: u64) -> impl Iterator<Item = Row> {
    (0..count).map(move |number| {
        let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut row = like.clone();
        row.url =
            format!("https://server{}.example.co.jp/a/longer/path/{mixed}.html?id={number}", mixed % 1_000);
        row.place.offset = mixed >> 1;
        row
    })
}

#[test]
fn lines_are_sorted_in_bounded_memory() {
    let (files, count) = (Files::new(), 240_000);
    let peak = peak_bytes(|| {
        let mut picker = Picker::new(files.path());
        rows(&files.rows[0], count).for_each(|row| picker.add(&row).unwrap());
        let picks = picker.finish().unwrap();
        assert_eq!(cdxj::write(picks, &files.source(), files.path(), &mut io::sink()).unwrap(), count);
    });
    // Picks and lines would take more than that; each of them is held to 32 MiB, and as much again while one grows.
    assert!(peak < 110 << 20, "{peak}");
}

#[test]
fn tables_are_written_group_by_group() {
    let files = Files::new();
    let peak = |count| {
        peak_bytes(|| {
            let mut table = Table::new(io::sink(), "utsushi/0.1.0").unwrap();
            rows(&files.rows[0], count).for_each(|row| table.push(&row).unwrap());
            table.finish().unwrap();
        })
    };
    let (one, three) = (peak(100_000), peak(300_000));
    assert!(three < one + one / 4 && three < 100 << 20, "{one} for one group, {three} for three");
}

//! ZIP as far as WACZ needs it: entries stored or deflated, files and entries of any size (zip64).
//!
//! Written entries are stored, because everything large in a WACZ is compressed already and must be reachable by
//! offset. Files to read are untrusted.

pub(crate) mod read;
pub(crate) mod write;

/// The signature of the header before an entry's bytes.
const LOCAL: u32 = 0x0403_4b50;
/// The signature of an entry in the directory.
const CENTRAL: u32 = 0x0201_4b50;
/// The signature of the end of the directory.
const END: u32 = 0x0605_4b50;
/// The signature of the end of the directory with large numbers.
const END64: u32 = 0x0606_4b50;
/// The signature of the locator of the one before.
const LOCATOR64: u32 = 0x0706_4b50;

/// The kind of the extra field that holds large numbers.
const EXTRA64: u16 = 1;
/// A number that stands in the extra field instead.
const LARGE32: u32 = u32::MAX;
/// The same for counts.
const LARGE16: u16 = u16::MAX;

/// The entry's bytes as they are.
const STORED: u16 = 0;
/// The entry's bytes deflated.
const DEFLATED: u16 = 8;

/// The version needed for large numbers.
const VERSION64: u16 = 45;
/// The flag of a name in UTF-8.
const FLAG_UTF8: u16 = 1 << 11;
/// The flag of an entry whose header was written before its sizes were known.
const FLAG_SIZES_FOLLOW: u16 = 1 << 3;
/// The flag of an encrypted entry.
const FLAG_ENCRYPTED: u16 = 1;

const LOCAL_BYTES: usize = 30;
const CENTRAL_BYTES: usize = 46;
const END_BYTES: usize = 22;
const END64_BYTES: usize = 56;
const LOCATOR64_BYTES: usize = 20;

//! Every bound of the program, each with its reason. What exceeds a limit is recorded, never silently dropped.
//!
//! **Invariant:** limits that depend on each other are proved to agree when this file is compiled.

use crate::Interval;
use std::time::Duration;

// Schedule (C4): the paper's range, one minute to 400 days in one store.

/// The shortest time between two visits to one page: the resolution of the state store.
pub const REVISIT_INTERVAL_MIN: Interval = Interval::from_minutes(1);
/// The longest time between two visits to one page, so that a dead server is still noticed.
pub const REVISIT_INTERVAL_MAX: Interval = Interval::from_days(400);
const _: () = assert!(REVISIT_INTERVAL_MIN.as_seconds() < REVISIT_INTERVAL_MAX.as_seconds());
/// If the wall clock says that the crawl was stopped for longer than this, the wall clock is wrong (D16).
pub const CLOCK_GAP_MAX: Interval = Interval::from_days(400);

// URLs (H10).

/// The longest URL in bytes: an old limit of browsers and servers; longer ones are traps.
pub const URL_BYTES_MAX: usize = 2_083;
/// A URL with more path segments is suspected to lead into a trap.
pub const URL_SEGMENTS_MAX: usize = 20;
/// A URL in which one path segment occurs more often is suspected to echo.
pub const URL_SEGMENT_REPEATS_MAX: usize = 2;
/// A URL with more query parameters is suspected to lead into a trap.
pub const URL_PARAMETERS_MAX: usize = 30;

/// Maximum bytes of link text that are kept: a sentence is enough.
pub const ANCHOR_TEXT_BYTES_MAX: usize = 256;

// Politeness (C6, H13).

/// The default delay between two requests to one server, and to one address.
pub const SERVER_PAUSE_DEFAULT: Interval = Interval::from_seconds(10);
/// The longest `Crawl-delay` or `Retry-After` that is accepted; above it the server is not visited for a day.
pub const SERVER_PAUSE_MAX: Interval = Interval::from_days(1);
const _: () = assert!(SERVER_PAUSE_DEFAULT.as_seconds() < SERVER_PAUSE_MAX.as_seconds());
/// Maximum number of redirects followed for a page, each judged again (H4).
pub const REDIRECTS_MAX: usize = 10;
/// Maximum number of redirects followed for a robots file (RFC 9309).
pub const ROBOTS_REDIRECTS_MAX: usize = 5;
/// Maximum bytes of a robots file that are read (RFC 9309 requires at least 500 KiB).
pub const ROBOTS_BYTES_MAX: usize = 500 * 1024;
/// How long a fetched robots file is used (H12).
pub const ROBOTS_LIFETIME: Interval = Interval::from_days(1);
/// How long known rules stay in use while the file cannot be fetched (H12).
pub const ROBOTS_STALE_MAX: Interval = Interval::from_days(30);
const _: () = assert!(ROBOTS_LIFETIME.as_seconds() < ROBOTS_STALE_MAX.as_seconds());

// One exchange (H6, H7).

/// Time to connect.
pub const CONNECT_TIME_MAX: Duration = Duration::from_secs(10);
/// Time for the TLS handshake.
pub const TLS_TIME_MAX: Duration = Duration::from_secs(10);
/// Time from the request to the first byte of the answer.
pub const FIRST_BYTE_TIME_MAX: Duration = Duration::from_secs(30);
/// Time without any byte.
pub const IDLE_TIME_MAX: Duration = Duration::from_secs(20);
/// Time of a whole visit.
pub const VISIT_TIME_MAX: Duration = Duration::from_secs(5 * 60);
const _: () = assert!(FIRST_BYTE_TIME_MAX.as_secs() < VISIT_TIME_MAX.as_secs());
/// The slowest answer that is accepted after [`SLOW_GRACE`].
pub const BYTES_PER_SECOND_MIN: u64 = 100;
/// How long an answer may be slower than [`BYTES_PER_SECOND_MIN`].
pub const SLOW_GRACE: Duration = Duration::from_secs(30);
/// The longest head of an answer.
pub const HEAD_BYTES_MAX: usize = 256 * 1024;
/// Maximum number of fields in the head of an answer.
pub const HEAD_FIELDS_MAX: usize = 512;
/// Maximum number of interim (1xx) answers before the final one.
pub const INTERIM_ANSWERS_MAX: usize = 16;
/// Maximum bytes of a body that are stored; above it the capture is marked as truncated.
pub const BODY_BYTES_MAX: usize = 64 * 1024 * 1024;
/// A body longer than this goes to disk while it arrives (D15): nine of ten pages are much smaller.
pub const BODY_MEMORY_EACH_MAX: usize = 1024 * 1024;
/// Memory for all bodies in flight (D15); above it even small ones go to disk.
pub const BODY_MEMORY_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Disk space for all bodies in flight: 64 bodies of the largest size. Above it they are cut off.
pub const BODY_DISK_BYTES_MAX: usize = 4 * 1024 * 1024 * 1024;
const _: () = assert!(BODY_MEMORY_EACH_MAX < BODY_BYTES_MAX && BODY_BYTES_MAX < BODY_DISK_BYTES_MAX);
/// How long a forward proxy may delay a request (D12): the guard delays, and reports it.
pub const PROXY_TIME_MAX: Duration = Duration::from_secs(60);
/// The longest answer of a proxy to `CONNECT`.
pub const PROXY_HEAD_BYTES_MAX: usize = 8 * 1024;
/// The longest block of a record that is read whole, in our archive and in others: four times [`BODY_BYTES_MAX`],
/// because others fetch larger bodies.
pub const RECORD_BLOCK_BYTES_MAX: usize = 256 * 1024 * 1024;
const _: () = assert!(BODY_BYTES_MAX + HEAD_BYTES_MAX < RECORD_BLOCK_BYTES_MAX);
const _: () = assert!(HEAD_BYTES_MAX < BODY_BYTES_MAX);

/// The longest `ETag` or `Last-Modified` that is kept and sent back: real ones have fewer than a hundred bytes.
pub const VALIDATOR_BYTES_MAX: usize = 1_024;

// Decoding (H5).

/// Maximum bytes of a decoded body.
pub const DECODED_BYTES_MAX: usize = 128 * 1024 * 1024;
/// Maximum ratio of decoded to encoded size above [`DECODED_FREE_BYTES`].
pub const DECODED_RATIO_MAX: usize = 200;
/// Up to this size any ratio is fine: small pages of blanks compress well.
pub const DECODED_FREE_BYTES: usize = 4 * 1024 * 1024;
/// Maximum number of nested content codings.
pub const CODINGS_MAX: usize = 3;
const _: () = assert!(DECODED_FREE_BYTES < DECODED_BYTES_MAX && BODY_BYTES_MAX <= DECODED_BYTES_MAX);

// Dates from the web (M9).

/// The first year accepted in a date from the web.
pub const WEB_YEAR_MIN: i16 = 1995;
/// The last year accepted in a date from the web.
pub const WEB_YEAR_MAX: i16 = 2100;

// Disk (M4, D2).

/// Below this much free space a writer pauses, whatever the size of the disk.
pub const DISK_FREE_BYTES_MIN: u64 = 1024 * 1024 * 1024;
/// The longest time a capture waits for its batch to be synced.
pub const BATCH_WAIT_MAX: Duration = Duration::from_secs(1);
/// The size at which an archive file is closed and the next one started.
pub const ARCHIVE_FILE_BYTES: u64 = 1024 * 1024 * 1024;

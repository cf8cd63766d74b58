//! Standard formats: exported files contain what was stored, other programs read them, and untrusted files are read
//! safely.

#![expect(
    clippy::unwrap_used,
    reason = "clippy knows test functions by their mark; here the functions they call are tests too"
)]

mod cdxj;
mod files;
mod hostile;
mod kept;
mod memory;
mod parquet;
mod pywb;
mod results;
mod tools;
mod wacz;
mod warc_file;

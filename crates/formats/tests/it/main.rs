//! Forms of others: what is written is what was stored, peers read it, and what strangers send is read with care.

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

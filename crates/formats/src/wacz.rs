//! WACZ 1.1.1: a snapshot as one file that a browser can play back, written and read.
//!
//! | entry | what it is |
//! |---|---|
//! | `archive/data.warc.gz` | the captures and what they need, one gzip member a record |
//! | `indexes/index.cdx.gz`, `indexes/index.idx` | their CDXJ in compressed blocks, and where each block begins |
//! | `pages/pages.jsonl` | pages to begin with |
//! | `datapackage.json` | length and SHA-256 of everything above |
//! | `datapackage-digest.json` | the SHA-256 of that |

mod read;
mod write;

pub use read::{Content, Mismatch, Package, Seekable, WarcEntry};
pub use write::write;

const MANIFEST: &str = "datapackage.json";
const MANIFEST_DIGEST: &str = "datapackage-digest.json";

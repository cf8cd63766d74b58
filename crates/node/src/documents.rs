//! Documents and links of a data directory, as readers see them.

use crate::directory::DataDirectory;
use crate::error::Error;
use crate::node::Node;
use archive::{Checkpoint, Reader};
use base::disk::RealDisk;
use document::documents::{DOCUMENTS, Documents};
use document::links::{LINKS, LinkGraph};
use document::standard::Library;

/// Maximum number of captures that are counted.
const LAG_MAX: u64 = 100_000;

impl Node {
    /// The link graph as it is now. Needs no lock.
    pub fn link_graph(&self) -> Result<LinkGraph, Error> {
        let directory = DataDirectory::open_reader(&self.data)?;
        LinkGraph::open(&RealDisk, &directory.path().join(LINKS)).map_err(Error::Document)
    }
    /// The documents as they are now, with their links. Needs no lock.
    pub fn library(&self) -> Result<Library, Error> {
        let directory = DataDirectory::open_reader(&self.data)?;
        let documents = Documents::open(&RealDisk, &directory.path().join(DOCUMENTS));
        let documents = documents.map_err(Error::Document)?;
        let links = self.link_graph()?;
        // The archive last, so that it has everything that they have.
        Ok(Library::new(documents, links, self.reader()?.1))
    }
}

/// How many captures arrived after a checkpoint, up to a limit. Only checksum files are read for it.
pub fn captures_since(reader: &Reader, checkpoint: Option<&Checkpoint>) -> Result<u64, Error> {
    let count = Error::archive("count what is new in the archive");
    let mut captures = 0;
    for arrival in reader.since(checkpoint).map_err(&count)? {
        arrival.map_err(&count)?;
        captures += 1;
        if captures == LAG_MAX {
            break;
        }
    }
    Ok(captures)
}

//! The link graph and the documents.

use super::{FollowingStage, StageSite, stage_error};
use crate::directory::DirectoryWriter;
use crate::error::Error;
use crate::monitor::Activity;
use crate::node::Node;
use archive::Checkpoint;
use base::disk::RealDisk;
use document::documents::{DOCUMENTS, DocumentStage, Documents};
use document::links::{LINKS, LinkGraph, LinkStage};
use stage::{Runner, Stage};
use std::sync::Arc;

impl Node {
    /// Lets the stages that follow the archive catch up with it. A crawl does that by itself.
    pub fn catch_up_stages(&self, writer: &DirectoryWriter) -> Result<(), Error> {
        for following in self.stages.iter().filter_map(|stage| stage.following()) {
            let fail = stage_error("update", following.name);
            let site = following.site(self, writer.directory());
            let mut stage = following.open_at(&site).map_err(&fail)?;
            let meter = self.monitor.begin(Activity::Deriving, None);
            let runner = Runner::new(site.reader().map_err(&fail)?, site.parser());
            let caught_up =
                runner.catch_up(&mut [&mut *stage], |progress| meter.set(progress.captures, None));
            caught_up.map_err(&fail)?;
        }
        Ok(())
    }
}

pub(super) static LINK_GRAPH: FollowingStage = FollowingStage {
    name: LINKS,
    contents: "The links between pages, in both directions",
    open: open_links,
    checkpoint: links_checkpoint,
};

pub(super) static DOCUMENT_STORE: FollowingStage = FollowingStage {
    name: DOCUMENTS,
    contents: "The text of pages, sentence by sentence",
    open: open_documents,
    checkpoint: documents_checkpoint,
};

fn open_links(site: &StageSite<'_>) -> Result<Box<dyn Stage + Send>, stage::Error> {
    let (stage, damage) = LinkStage::open(Arc::new(RealDisk), &site.path).map_err(failed(LINKS))?;
    tell(damage);
    Ok(Box::new(stage.merging_beside()))
}

fn links_checkpoint(site: &StageSite<'_>) -> Result<Option<Checkpoint>, stage::Error> {
    let graph = LinkGraph::open(&RealDisk, &site.path).map_err(failed(LINKS))?;
    Ok(graph.checkpoint().cloned())
}

fn open_documents(site: &StageSite<'_>) -> Result<Box<dyn Stage + Send>, stage::Error> {
    let (stage, damage) = DocumentStage::open(Arc::new(RealDisk), &site.path).map_err(failed(DOCUMENTS))?;
    tell(damage);
    Ok(Box::new(stage.merging_beside()))
}

fn documents_checkpoint(site: &StageSite<'_>) -> Result<Option<Checkpoint>, stage::Error> {
    let documents = Documents::open(&RealDisk, &site.path).map_err(failed(DOCUMENTS))?;
    Ok(documents.checkpoint().cloned())
}

/// What cannot be opened is built again from the beginning.
fn tell(damage: Option<document::Error>) {
    if let Some(damage) = damage {
        tracing::warn!(%damage, "it is rebuilt from the archive");
    }
}

fn failed(stage: &'static str) -> impl Fn(document::Error) -> stage::Error {
    move |error| match error {
        document::Error::Stage(error) => error,
        error => stage::Error::of(stage, error),
    }
}

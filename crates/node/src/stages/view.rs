//! What is shown of the stages that follow the archive.

use super::follow::StageStates;
use super::stage_error;
use crate::directory::DataDirectory;
use crate::error::Error;
use crate::node::Node;
use archive::Reader;
use base::disk::RealDisk;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What `status --json` prints of a stage that follows the archive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StageView {
    /// Its name.
    pub stage: String,
    /// Captures that it has not processed, up to a limit; `None` if its checkpoint cannot be read.
    pub lag: Option<u64>,
    /// Whether there are more.
    pub lag_is_more: bool,
    /// Whether a running crawl keeps it up to date.
    pub is_running: bool,
    /// Whether that is paused, because the disk is full.
    pub is_paused: bool,
    /// Captures that the running crawl processed for it.
    pub captures: u64,
    /// Damaged captures among them, which it skipped.
    pub damaged: u64,
    /// Why it cannot go on, if it cannot. It is tried again.
    pub failure: Option<String>,
}

/// The stages that follow the archive of a data directory. `running` has those that this process runs.
pub(crate) fn views(node: &Node, running: Option<&StageStates>) -> Result<Vec<StageView>, Error> {
    let directory = DataDirectory::open_reader(&node.data)?;
    let mut views = Vec::new();
    for following in node.stages.iter().filter_map(|stage| stage.following()) {
        let lag = || -> Result<stage::Lag, stage::Error> {
            // The checkpoint first, so that the archive contains everything that the stage has processed.
            let checkpoint = (following.checkpoint)(&following.site(node, &directory))?;
            let reader = Reader::open(Arc::new(RealDisk), &directory.archive_path())?;
            stage::lag_after(&reader, checkpoint.as_ref())
        };
        let mut view = running.map(|states| states.view(following.name)).unwrap_or_default();
        view.stage = following.name.to_owned();
        match lag() {
            Ok(lag) => (view.lag, view.lag_is_more) = (Some(lag.captures), lag.is_more),
            Err(error) => {
                let error = stage_error("read the checkpoint of", following.name)(error);
                view.failure.get_or_insert_with(|| error.with_causes());
            }
        }
        views.push(view);
    }
    Ok(views)
}

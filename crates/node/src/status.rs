//! What `status` shows of a data directory: its contents, its writer, the state of its crawl and its stages.

use crate::control::ControlRequest;
use crate::directory::{DataDirectory, LockOwner};
use crate::error::Error;
use crate::monitor::{Activity, Notice};
use crate::node::Node;
use crate::stages::StageView;
use crate::steering::Steering;
use crate::views::{FiguresView, ScheduleView};
use archive::{Reader, Summary};
use base::Timestamp;
use base::disk::RealDisk;
use serde_json::{Value, json};
use std::sync::Arc;

/// The state of a data directory.
#[derive(Debug)]
pub struct NodeStatus {
    /// The data directory.
    pub directory: DataDirectory,
    /// The process that writes to it, if there is one.
    pub owner: Option<LockOwner>,
    /// What the archive contains.
    pub archive: Summary,
    /// The schedule; `None` if there is none yet, or if it cannot be read now.
    pub schedule: Option<ScheduleView>,
    /// The stages that follow the archive.
    pub stages: Vec<StageView>,
    /// The daily limit of requests; 0 for no limit.
    pub requests_per_day_max: u64,
    /// The daily limit of bytes; 0 for no limit.
    pub bytes_per_day_max: u64,
}

impl Node {
    /// Reads the state of the data directory. Takes no lock and writes nothing. A schedule that cannot be read is reported as
    /// a notice.
    pub async fn status(&self) -> Result<NodeStatus, Error> {
        let mut status = self.contents()?;
        if !status.has_schedule() {
            status.stages = crate::stages::views(self, None)?;
            return Ok(status);
        }
        match self.ask(&mut status).await {
            Err(error) => self.monitor.notice(&Notice::ScheduleUnreadable(&error)),
            Ok(steering) => steering.close().await?,
        }
        Ok(status)
    }

    /// The state of the data directory, and the figures of the paper, which need a schedule. It is built from the archive if
    /// there is none.
    pub async fn status_with_figures(&self) -> Result<(NodeStatus, FiguresView), Error> {
        let mut status = self.contents()?;
        if !status.has_schedule() && status.archive.captures() == 0 {
            return Err(Error::NothingCrawled);
        }
        let steering = self.ask(&mut status).await?;
        let figures = steering.ask_for::<FiguresView>(ControlRequest::Figures {}).await?.pop();
        steering.close().await?;
        Ok((status, figures.unwrap_or_default()))
    }

    /// Everything but the schedule and the stages.
    fn contents(&self) -> Result<NodeStatus, Error> {
        let directory = DataDirectory::open_reader(&self.data)?;
        let owner = directory.owner();
        let owner = owner.map_err(Error::io("find the process that writes to", &self.data))?;
        let _meter = self.monitor.begin(Activity::ReadingArchive, None);
        let archive = match directory.archive_path() {
            path if path.is_dir() => {
                let reader = Reader::open(Arc::new(RealDisk), &path);
                let summary = reader.and_then(|reader| reader.summary());
                summary.map_err(Error::archive("read the archive"))?
            }
            // An interrupted start may have left none.
            _ => Summary::default(),
        };
        let crawl = &self.config.crawl;
        Ok(NodeStatus {
            directory,
            owner,
            archive,
            schedule: None,
            stages: Vec::new(),
            requests_per_day_max: crawl.requests_per_day_max,
            bytes_per_day_max: crawl.bytes_per_day_max,
        })
    }

    /// Adds the schedule and the stages.
    async fn ask(&self, status: &mut NodeStatus) -> Result<Steering, Error> {
        let steering = Steering::find_to_read(self).await?;
        status.schedule = steering.ask_for(ControlRequest::Status {}).await?.pop();
        // An older process that crawls knows no stages.
        status.stages = match steering.ask_for(ControlRequest::Stages {}).await {
            Err(Error::Control { source: crate::control::ControlError::Unsupported, .. }) => Vec::new(),
            stages => stages?,
        };
        Ok(steering)
    }
}

impl NodeStatus {
    fn has_schedule(&self) -> bool {
        self.directory.path().join(::crawl::FRONTIER).is_dir()
    }

    /// What `status --json` prints.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let (format, archive) = (self.directory.format(), &self.archive);
        let mut object = json!({
            "data": self.directory.path().to_string_lossy(),
            "format": format.version,
            "created": format.created.to_rfc3339(),
            "web": format.web,
            "writer": self.owner,
            "archive": {
                "files": archive.files,
                "bytes": archive.bytes,
                "captures": archive.captures(),
                "responses": archive.responses,
                "revisits": archive.revisits,
                "unchanged": archive.unchanged,
                "duplicates": archive.revisits - archive.unchanged,
                "unanswered": archive.unanswered,
                "resources": archive.resources,
                "others": archive.others,
                "pages": archive.pages,
                "index_bytes": archive.index_bytes,
                "first": archive.first.map(Timestamp::to_rfc3339),
                "last": archive.last.map(Timestamp::to_rfc3339),
            },
            "schedule": self.schedule,
        });
        if !self.stages.is_empty() {
            object["stages"] = json!(self.stages);
        }
        object
    }
}

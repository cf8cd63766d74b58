//! A data directory in use: its writer lock, its schedule, the process that crawls it and how other processes reach that
//! process.
//!
//! A [`Node`] is a data directory with its configuration. A program, a console or a cluster calls it to crawl, steer,
//! import, take down, rebuild and query; [`Steering`] finds out whether another process has to do it.
//!
//! ```no_run
//! # async fn example() -> Result<(), node::Error> {
//! use node::control::ControlRequest;
//! use node::views::ScheduleView;
//! use node::{Config, Node, Silent, Steering, stages};
//! use std::sync::Arc;
//!
//! let data = std::path::PathBuf::from("web");
//! let config = Config::load(None, &data)?;
//! let node = Node { data, config, monitor: Arc::new(Silent), stages: stages::ALL };
//! let steering = Steering::find_to_read(&node).await?;
//! for schedule in steering.ask_for::<ScheduleView>(ControlRequest::Status {}).await? {
//!     assert!(schedule.new <= schedule.pages);
//! }
//! steering.close().await
//! # }
//! ```
//!
//! **Invariant:** nothing is printed. What a person should know goes to a [`Monitor`]; what failed is an [`Error`].
//!
//! **Invariant:** one process writes to a data directory; readers take no lock.

pub mod config;
pub mod control;
pub mod crawling;
pub mod describe;
pub mod directory;
pub mod documents;
pub mod door;
mod error;
mod explain;
#[doc(hidden)]
pub mod fuzzing;
pub mod held_back;
pub mod import;
mod json;
pub mod metrics;
mod monitor;
mod node;
mod orders;
pub mod rebuild;
pub mod scans;
pub mod schedule;
pub mod stages;
pub mod status;
mod steering;
pub mod takedown;
mod view;
pub mod views;

pub use config::Config;
pub use directory::{DataDirectory, DirectoryWriter, LockOwner, WebKind};
pub use error::Error;
pub use json::json_line;
pub use monitor::{Activity, Meter, Monitor, Notice, Silent};
pub use node::{Node, key_of};
pub use status::NodeStatus;
pub use steering::Steering;

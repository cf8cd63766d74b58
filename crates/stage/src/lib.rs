//! Everything that is derived from the archive has one shape: a [`Stage`], run by one [`Runner`].
//!
//! A stage reads captures in the order in which they arrived, does one thing per capture, and commits its result
//! together with its checkpoint: the position in the archive up to which it has processed everything. The frontier's
//! learning and the table of languages and titles are stages.
//!
//! This is a whole stage: a table of HTTP server software per server, kept up to date as captures arrive.
//! `examples/servers.rs` has it as a program.
//!
//! ```
#![doc = include_str!("../examples/servers.rs")]
//! ```
//!
//! **Invariant:** a stage gets every capture after its checkpoint once, in the order of arrival, and its checkpoint
//! commits together with its result. So after a crash nothing is processed twice and nothing is left out.
//!
//! **Invariant:** a body is parsed at most once, however many stages look at it ([`Arrival::body`]).
//!
//! **Invariant:** damage in a capture ends no run. The capture is passed over, counted and logged.
//!
//! Not here: threads, clocks, sockets, and what any stage derives.

mod arrival;
mod body;
mod delivery;
mod error;
mod runner;

pub use arrival::Arrival;
pub use body::{BodyParser, Markup, ParsedBody, language_of};
pub use delivery::{Delivery, Progress};
pub use error::{Error, parse_checkpoint};
pub use runner::{
    COMMIT_CAPTURES, LAG_CAPTURES_MAX, LOOK_AHEAD_CAPTURES, Lag, PauseSwitch, Runner, lag_after, take_down,
};

use archive::{Checkpoint, Target};

/// Something that is derived from the archive.
pub trait Stage {
    /// A short name for messages. `utsushi rebuild NAME` rebuilds the stage, and its files are in the directory of that name.
    fn name(&self) -> &'static str;

    /// The position in the archive after the last capture that was committed; `None` if there was none.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] when a checkpoint is stored that cannot be read. It must not count as none: that would
    /// process the whole archive again on top of what is there.
    fn checkpoint(&self) -> Result<Option<Checkpoint>, Error>;

    /// Processes one capture. Captures come in order of arrival, not of their dates: an import brings old ones after new ones.
    /// The result need not be stored before the next [`Stage::commit`].
    ///
    /// # Errors
    /// When the stage cannot go on. It is dropped then, and opened again from its last commit.
    fn take(&mut self, arrival: &Arrival<'_>) -> Result<(), Error>;

    /// Stores the results of all captures that were taken, and `checkpoint`, as one unit: after a crash both are there or
    /// neither. A commit may become durable later, after those before it.
    ///
    /// # Errors
    /// When the result cannot be stored.
    fn commit(&mut self, checkpoint: &Checkpoint) -> Result<(), Error>;

    /// Makes durable what was committed. Called when a run ends.
    ///
    /// # Errors
    /// When it cannot be made durable.
    fn sync(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Removes what was derived from captures of `target`, durably, and returns how many rows, pages or documents that
    /// were. The archive no longer shows these captures. After a crash it is called again.
    ///
    /// # Errors
    /// When it cannot be removed.
    fn take_down(&mut self, target: &Target) -> Result<u64, Error>;

    /// Removes everything, the checkpoint too, so that the next run rebuilds it.
    ///
    /// A stage with a directory of its own is never cleared while it is used: a rebuild opens it in a new directory, clears
    /// it there, lets it catch up, and puts the directory in place of the old one. So readers keep the old data until the
    /// new data is complete, and a crash costs nothing. A stage whose files lie among those of the archive is cleared in
    /// place, and catches up.
    ///
    /// # Errors
    /// When it cannot be removed.
    fn clear(&mut self) -> Result<(), Error>;
}

//! The first walk: a queue of pages, a door, an archive; visits that keep every pause.
//!
//! [`Queue`] is a state machine without I/O that says what to do next and when; [`walk`] drives it: it looks up,
//! asks for robots files, visits, reads the links, and hands every capture to the archive, whose batches are
//! synced before they are acknowledged.
//!
//! **Invariant:** all requests to one server, and all to one address, come one after the other with at least the
//! pause between the end of one and the beginning of the next. The time comes from the clock that is handed in.
//!
//! Not here: HTTP, robots rules, the form of the archive, when to look again (pages are revisited in turn).

mod admit;
mod queue;
mod recall;
mod report;
mod visit;
mod walk;
mod write;

pub use admit::{Unfit, fit};
pub use queue::{Before, Conditions, Done, Next, Page, PageId, Queue, QueueSettings, Step, Task};
pub use recall::recall_robots;
pub use report::{Kept, Report};
pub use visit::{Ended, take};
pub use walk::{Error, Event, Parts, Settings, Start, walk};

//! How far a long command has come: a bar on a terminal, a plain line now and then elsewhere.
//!
//! **Invariant:** progress goes where the notes go, never among the results.

use crate::output::Stream;
use base::clock::RealClock;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The shortest time between two plain lines, so that a log of a long run stays readable.
const LINE_PAUSE: Duration = Duration::from_secs(5);
/// How often a bar is drawn anew while nothing happens, so that a person sees it is alive.
const BAR_TICK: Duration = Duration::from_millis(200);

/// One long piece of work. What it shows is taken away when it is dropped.
#[derive(Debug)]
pub(crate) struct Progress(Form);

#[derive(Debug)]
enum Form {
    None,
    Bar { bar: ProgressBar, stream: Arc<Stream> },
    Lines { stream: Arc<Stream>, what: String, total: Option<u64>, pace: Pace },
}

impl Progress {
    /// Progress that is not shown.
    pub(crate) fn none() -> Self {
        Self(Form::None)
    }

    /// Shows `what` on `stream`, in the form that fits it.
    pub(crate) fn start(stream: &Arc<Stream>, what: &str, total: Option<u64>) -> Self {
        let stream = Arc::clone(stream);
        if !stream.is_terminal() {
            return Self(Form::Lines { stream, what: what.to_owned(), total, pace: Pace::start() });
        }
        let bar = bar(what, total);
        stream.set_bar(Some(bar.clone()));
        Self(Form::Bar { bar, stream })
    }

    /// Says how much is done, and something about it in a few words.
    pub(crate) fn set(&self, done: u64, words: &str) {
        match &self.0 {
            Form::Bar { bar, .. } => {
                bar.set_position(done);
                bar.set_message(base::printable(words).into_owned());
            }
            Form::Lines { stream, what, total, pace } if pace.due() => {
                stream.write(plain_line(what, done, *total, words).as_bytes());
            }
            Form::Lines { .. } | Form::None => {}
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Form::Bar { bar, stream } = &self.0 {
            stream.set_bar(None);
            bar.finish_and_clear();
        }
    }
}

fn bar(what: &str, total: Option<u64>) -> ProgressBar {
    let template = match total {
        Some(_) => "{prefix} {bar:24} {human_pos}/{human_len} {elapsed} {wide_msg}",
        None => "{prefix} {spinner} {human_pos} {elapsed} {wide_msg}",
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner());
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
    bar.set_style(style);
    bar.set_prefix(what.to_owned());
    bar.enable_steady_tick(BAR_TICK);
    bar
}

fn plain_line(what: &str, done: u64, total: Option<u64>, words: &str) -> String {
    let of_total = total.map(|total| format!(" of {total}")).unwrap_or_default();
    let words = base::printable(words);
    let comma = if words.is_empty() { "" } else { ", " };
    format!("{what}: {done}{of_total}{comma}{words}\n")
}

/// Lets one line through every [`LINE_PAUSE`]; the first has to wait too, so that a short command shows none.
#[derive(Debug)]
struct Pace {
    clock: Arc<RealClock>,
    next: Mutex<Duration>,
}

impl Pace {
    fn start() -> Self {
        Self { clock: RealClock::start(), next: Mutex::new(LINE_PAUSE) }
    }
    fn due(&self) -> bool {
        self.due_at(self.clock.real_elapsed())
    }
    fn due_at(&self, elapsed: Duration) -> bool {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let due = elapsed >= *next;
        if due {
            *next = elapsed + LINE_PAUSE;
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_line_comes_at_most_every_five_seconds() {
        let pace = Pace::start();
        let due: Vec<u64> = (0..20).filter(|second| pace.due_at(Duration::from_secs(*second))).collect();
        assert_eq!(due, [5, 10, 15]);
    }

    #[test]
    fn a_plain_line_says_what_and_how_far() {
        assert_eq!(plain_line("archiving", 3, Some(10), ""), "archiving: 3 of 10\n");
        assert_eq!(plain_line("archiving", 3, None, "2 servers\u{7}"), "archiving: 3, 2 servers\\u{7}\n");
    }

    #[test]
    fn a_short_command_shows_no_line() {
        let stream = Arc::new(Stream::memory());
        let progress = Progress::start(&stream, "archiving", None);
        progress.set(1, "one page");
        drop(progress);
        assert_eq!(stream.taken(), "");
    }
}

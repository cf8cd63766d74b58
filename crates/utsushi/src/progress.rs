//! The progress of a long command: a bar on a terminal, otherwise a plain line now and then.
//!
//! **Invariant:** progress is written to the stream of notes, never among the results.

use crate::output::{Stream, columns_of};
use base::clock::RealClock;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The minimum time between two plain lines, so that a log of a long run stays readable.
const LINE_PAUSE: Duration = Duration::from_secs(5);
/// How often a bar is redrawn while nothing happens, so that a person sees that the command runs.
const BAR_TICK: Duration = Duration::from_millis(200);

/// One long piece of work. Its output is removed when it is dropped.
#[derive(Debug)]
pub(crate) struct Progress(Form);

#[derive(Debug)]
enum Form {
    None,
    Bar {
        bar: ProgressBar,
        stream: Arc<Stream>,
    },
    Lines {
        stream: Arc<Stream>,
        what: String,
        total: Option<u64>,
        pace: Pace,
    },
    /// Custom lines: redrawn in place on a terminal, otherwise one line now and then.
    View {
        bar: Option<ProgressBar>,
        stream: Arc<Stream>,
        pace: Pace,
    },
}

impl Progress {
    /// Progress that is not shown.
    pub(crate) fn none() -> Self {
        Self(Form::None)
    }

    /// Shows `what` on `stream`, in the form that fits the stream.
    pub(crate) fn start(stream: &Arc<Stream>, what: &str, total: Option<u64>) -> Self {
        let stream = Arc::clone(stream);
        if !stream.is_terminal() {
            let pace = Pace::start(LINE_PAUSE);
            return Self(Form::Lines { stream, what: what.to_owned(), total, pace });
        }
        let bar = bar(what, total);
        stream.set_bar(Some(bar.clone()));
        Self(Form::Bar { bar, stream })
    }

    /// Shows the lines of [`Progress::show`]; without a terminal at most one line every `pause`.
    pub(crate) fn view(stream: &Arc<Stream>, pause: Duration) -> Self {
        let stream = Arc::clone(stream);
        let bar = stream.is_terminal().then(view_bar);
        stream.set_bar(bar.clone());
        Self(Form::View { bar, stream, pace: Pace::start(pause) })
    }

    /// Replaces the lines of a view; empty lines are left out.
    pub(crate) fn show(&self, lines: &[String]) {
        let lines: Vec<&str> = lines.iter().map(String::as_str).filter(|line| !line.is_empty()).collect();
        match &self.0 {
            Form::View { bar: Some(bar), .. } => {
                let columns = columns_of(&console::Term::stderr());
                bar.set_message(fitted(&lines, columns));
            }
            Form::View { bar: None, stream, pace } if pace.due() => {
                stream.write(format!("{}\n", base::printable(&lines.join("; "))).as_bytes());
            }
            _ => {}
        }
    }

    /// Shows how much is done, and a short remark.
    pub(crate) fn set(&self, done: u64, words: &str) {
        match &self.0 {
            Form::Bar { bar, .. } => {
                bar.set_position(done);
                bar.set_message(base::printable(words).into_owned());
            }
            Form::Lines { stream, what, total, pace } if pace.due() => {
                stream.write(plain_line(what, done, *total, words).as_bytes());
            }
            Form::Lines { .. } | Form::View { .. } | Form::None => {}
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Form::Bar { bar, stream } | Form::View { bar: Some(bar), stream, .. } = &self.0 {
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

fn view_bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {msg}");
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar.enable_steady_tick(BAR_TICK);
    bar
}

/// Lines below one another, each within the terminal: a wrapped line could not be redrawn in place. The spinner and a space
/// precede the first.
fn fitted(lines: &[&str], columns: usize) -> String {
    let fit = |line: &&str| {
        let line = base::printable(line);
        console::truncate_str(&line, columns.saturating_sub(SPINNER_COLUMNS + 1), "…").into_owned()
    };
    let indent = format!("\n{}", " ".repeat(SPINNER_COLUMNS));
    lines.iter().map(fit).collect::<Vec<_>>().join(&indent)
}

/// A spinner and a space.
const SPINNER_COLUMNS: usize = 2;

fn plain_line(what: &str, done: u64, total: Option<u64>, words: &str) -> String {
    let of_total = total.map(|total| format!(" of {total}")).unwrap_or_default();
    let words = base::printable(words);
    let comma = if words.is_empty() { "" } else { ", " };
    format!("{what}: {done}{of_total}{comma}{words}\n")
}

/// Allows one line every `pause`; the first has to wait too, so that a short command shows none.
#[derive(Debug)]
struct Pace {
    clock: Arc<RealClock>,
    pause: Duration,
    next: Mutex<Duration>,
}

impl Pace {
    fn start(pause: Duration) -> Self {
        Self { clock: RealClock::start(), pause, next: Mutex::new(pause) }
    }
    fn due(&self) -> bool {
        self.due_at(self.clock.real_elapsed())
    }
    fn due_at(&self, elapsed: Duration) -> bool {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let due = elapsed >= *next;
        if due {
            *next = elapsed + self.pause;
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_line_comes_at_most_every_five_seconds() {
        let pace = Pace::start(LINE_PAUSE);
        let due: Vec<u64> = (0..20).filter(|second| pace.due_at(Duration::from_secs(*second))).collect();
        assert_eq!(due, [5, 10, 15]);
    }

    #[test]
    fn a_plain_line_says_what_and_how_far() {
        assert_eq!(plain_line("archiving", 3, Some(10), ""), "archiving: 3 of 10\n");
        assert_eq!(plain_line("archiving", 3, None, "2 servers\u{7}"), "archiving: 3, 2 servers\\u{7}\n");
    }

    #[test]
    fn a_view_stays_within_the_terminal() {
        let text = fitted(&["one", &"x".repeat(200), "\u{1b}[2J"], 80);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!((lines[0], lines[2]), ("one", "  \\u{1b}[2J"));
        assert!(lines[1].ends_with('…') && lines[1].chars().count() < 80, "{text}");
    }

    #[test]
    fn without_a_terminal_a_view_is_a_line_now_and_then() {
        let stream = Arc::new(Stream::memory());
        let progress = Progress::view(&stream, Duration::ZERO);
        progress.show(&["12s".to_owned(), String::new(), "3 pages".to_owned(), String::new()]);
        assert_eq!(stream.taken(), "12s; 3 pages\n");
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

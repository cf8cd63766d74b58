//! Orders to a running crawl, such as those from its control socket (D1).

use base::{PageUrl, Timestamp};
use frontier::{Explanation, Failing, Figures, Frontier, Overview, Role, Selection, ServerReport};
use tokio::sync::{mpsc, oneshot};

/// The queue of orders to a crawl.
pub type Orders = mpsc::Receiver<Order>;

/// An order, and where the answer goes. An order that changes something is answered when it is durable (D2).
#[derive(Debug)]
pub enum Order {
    /// Add these pages; the answer is how many were unknown.
    Add(Vec<Added>, oneshot::Sender<usize>),
    /// Stop or resume visiting.
    Pause(bool, oneshot::Sender<()>),
    /// Apply a directive to these pages; the answer is how many known ones it concerns.
    Direct(Directive, Vec<Selection>, oneshot::Sender<u64>),
    /// Explain a page.
    Explain(Box<PageUrl>, oneshot::Sender<Explanation>),
    /// Report all servers.
    Servers(oneshot::Sender<Vec<ServerReport>>),
    /// Report the crawl as a whole.
    Overview(oneshot::Sender<Overview>),
    /// List pages whose last visit failed, up to a maximum.
    Failing(usize, oneshot::Sender<Vec<Failing>>),
    /// Compute the figures of paper 003.
    Figures(oneshot::Sender<Figures>),
}

impl Order {
    /// Answers a question from `frontier`. An order that changes something is returned.
    ///
    /// # Errors
    /// When the store of the frontier cannot be read.
    pub fn answer(self, frontier: &mut Frontier, now: Timestamp) -> Result<Option<Self>, crate::Error> {
        // The asker may have gone meanwhile.
        match self {
            Self::Explain(url, answer) => drop(answer.send(frontier.explain(&url, now)?)),
            Self::Servers(answer) => drop(answer.send(frontier.servers(now))),
            Self::Overview(answer) => drop(answer.send(frontier.overview())),
            Self::Failing(limit, answer) => drop(answer.send(frontier.failing(limit)?)),
            Self::Figures(answer) => drop(answer.send(frontier.figures()?)),
            order => return Ok(Some(order)),
        }
        Ok(None)
    }
}

/// What an operator orders for pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Directive {
    /// Visit known pages before all others.
    VisitNow,
    /// Do not visit them until they are added again.
    Remove,
    /// Restore removed pages.
    Restore,
}

impl Directive {
    const ALL: [Self; 3] = [Self::VisitNow, Self::Remove, Self::Restore];

    /// Its name, which is also the kind of its notes in the archive.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::VisitNow => "visit",
            Self::Remove => "remove",
            Self::Restore => "restore",
        }
    }
    /// The directive of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }
    /// Carries it out; returns how many known pages it concerns.
    pub(crate) fn apply(
        self,
        frontier: &mut Frontier,
        selections: &[Selection],
        at: Timestamp,
    ) -> frontier::Result<u64> {
        match self {
            Self::VisitNow => frontier.visit_now(selections, at),
            Self::Remove => frontier.remove(selections, at),
            Self::Restore => frontier.restore(selections, at),
        }
    }
}

/// A page to add.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Added {
    /// The page.
    pub url: PageUrl,
    /// What it is visited for.
    pub role: Role,
    /// Pages of a higher priority are visited first; 0 is plain.
    pub priority: i8,
}

impl Added {
    /// A plain page.
    #[must_use]
    pub fn page(url: PageUrl) -> Self {
        Self { url, role: Role::Page, priority: 0 }
    }
    /// The page as a line of a note: role, priority, URL.
    pub(crate) fn line(&self) -> String {
        format!("{} {} {}\n", self.role.as_str(), self.priority, self.url)
    }
    /// Reads the lines of a note.
    pub(crate) fn read(note: &str) -> Vec<Self> {
        let line = |line: &str| {
            let mut words = line.splitn(3, ' ');
            let role = words.next().and_then(Role::named)?;
            let priority = words.next()?.parse().ok()?;
            let url = PageUrl::parse(words.next()?).ok()?;
            Some(Self { url, role, priority })
        };
        note.lines().filter_map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_read_as_it_was_written() {
        let url = |text| PageUrl::parse(text).unwrap();
        let added = [
            Added::page(url("http://a.example/?a b")),
            Added { url: url("https://b.example/feed"), role: Role::Feed, priority: -5 },
        ];
        let note: String = added.iter().map(Added::line).collect();
        assert_eq!(Added::read(&note), added);
        assert_eq!(
            Added::read("page x http://a/\nnonsense\n\nfeed 1 http://a.example/"),
            [Added { url: url("http://a.example/"), role: Role::Feed, priority: 1 }]
        );
    }
}

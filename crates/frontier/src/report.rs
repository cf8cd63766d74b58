//! Reports on a frontier: one page, one server, the crawl as a whole.

use crate::{HeldBack, Role};
use base::{Interval, Timestamp};
use std::net::IpAddr;

/// A page's life so far, its next visit and why, or why never (O2, D17).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Explanation {
    /// The URL as it is requested.
    pub url: String,
    /// The key of the page.
    pub key: String,
    /// Its server.
    pub server: String,
    /// Where the server answers, if that is known.
    pub address: Option<IpAddr>,
    /// `unknown`, `new`, `live`, `gone`, `moved`, `failing`, `refused`, `dropped` or `removed`.
    pub state: &'static str,
    /// Why it is visited when it is, or why never: a sentence.
    pub reason: String,
    /// What it is visited for.
    pub role: Role,
    /// When its URL was first seen.
    pub first_seen: Option<Timestamp>,
    /// The page on which it was found first.
    pub found_on: Option<String>,
    /// Answered visits.
    pub visits: u32,
    /// Changes seen (m).
    pub changes: u32,
    /// Changes beside the main text, which do not count (C3).
    pub side_changes: u32,
    /// Since the first visit (T).
    pub elapsed: Interval,
    /// The sum of the intervals without a change (U).
    pub unchanged_sum: Interval,
    /// How often it changes, by estimate; nothing when nothing can be estimated.
    pub estimate: Option<Interval>,
    /// The policy that chose the interval.
    pub policy: String,
    /// The interval that was chosen.
    pub interval: Option<Interval>,
    /// When it was last visited.
    pub last_visit: Option<Timestamp>,
    /// When it is due, by the policy.
    pub next_due: Option<Timestamp>,
    /// When it leaves the long-term queue: later than `next_due` if something limits it.
    pub queued_for: Option<Timestamp>,
    /// What makes it wait longer: `overload`, `neighbourhood`, `queue`, `back-off`, `budget`, `pause`, `trap`; `None`
    /// if nothing does.
    pub limited_by: Option<&'static str>,
    /// The share of its server's requests that it gets.
    pub budget_share: Option<f64>,
    /// What a feed, a sitemap or the server stated about it, such as `Last-Modified`.
    pub hint: Option<String>,
    /// How the last visit ended.
    pub last_outcome: Option<String>,
}

/// One server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServerReport {
    /// Its name.
    pub server: String,
    /// Where it answers, if that is known.
    pub address: Option<IpAddr>,
    /// Pages known of it.
    pub pages: u64,
    /// Those never visited.
    pub new: u64,
    /// Those in the short-term queue.
    pub queued: u64,
    /// Those that no longer exist.
    pub gone: u64,
    /// Pages dropped because the server's requests do not suffice.
    pub dropped: u64,
    /// Requests a second that the schedule asks for, L (C5).
    pub load: f64,
    /// 1/L: the longest interval between requests that keeps the schedule; nothing without pages.
    pub interval: Option<Interval>,
    /// The delay between requests.
    pub pause: Interval,
    /// Whether the schedule asks for more than the delay allows.
    pub overloaded: bool,
    /// L of all servers at its address.
    pub address_load: f64,
    /// The load once its budget is divided; the same as `load` when it is not overloaded.
    pub resolved_load: f64,
    /// Pages whose last visit failed.
    pub failing: u64,
    /// Why the delay is longer than configured: a status such as `429`, or `latency`.
    pub slowed_by: Option<String>,
    /// Whether its owner agreed to another delay (C18).
    pub agreed: bool,
    /// Until when it is not visited, if it waits.
    pub resting_until: Option<Timestamp>,
    /// Failures in a row.
    pub failures: u32,
    /// Requests since the crawl began.
    pub requests: u64,
    /// The server it is another name of (C10).
    pub alias_of: Option<String>,
    /// How fresh its pages are expected to be; nothing before any was visited.
    pub expected: Option<Outlook>,
    /// The share of visits that are made before their time, because pages beside them changed or because of a hint.
    pub early_share: f64,
    /// Hints of feeds and sitemaps that were right, that were wrong, and changes that came without one.
    pub hints: (u32, u32, u32),
    /// Pages and links that are held back, by reason (H10).
    pub held_back: HeldBack,
}

/// The whole.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overview {
    /// Servers known.
    pub servers: u64,
    /// Pages known.
    pub pages: u64,
    /// Pages never visited.
    pub new: u64,
    /// Pages in the short-term queue, over all servers.
    pub queued: u64,
    /// Links waiting to be judged.
    pub offered: u64,
    /// Servers that are overloaded.
    pub overloaded: u64,
    /// Pages dropped because their servers are.
    pub dropped: u64,
    /// Requests a second that the schedule asks for, over all servers.
    pub load: f64,
    /// Whether the crawl is paused.
    pub paused: bool,
    /// Pages whose last visit failed.
    pub failing: u64,
    /// Whether no server answers, so that the network seems to be down.
    pub network_down: bool,
    /// Requests today, and bytes.
    pub requests_today: u64,
    /// Bytes received today.
    pub bytes_today: u64,
    /// The next moment at which there is something to do.
    pub next: Option<Timestamp>,
    /// The policy.
    pub policy: String,
    /// How fresh all pages are expected to be; nothing before any was visited.
    pub expected: Option<Outlook>,
    /// Pages and links that are held back, by reason (H10).
    pub held_back: HeldBack,
}

/// How fresh pages are expected to be with visits as scheduled, within the limits of the servers' delays.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outlook {
    /// The share of the pages that are live or were never visited. A page that was never visited is not fresh.
    pub freshness: f64,
    /// The share of the live pages alone.
    pub freshness_visited: f64,
    /// By how much the copies of live pages are out of date on average.
    pub age: Interval,
    /// Whether most of these pages were observed too briefly to know how often they change.
    pub is_guess: bool,
}

/// A page whose last visit failed. A missing page (404, 410) is not a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failing {
    /// The URL as it is requested.
    pub url: String,
    /// What happened.
    pub reason: String,
    /// Failures in a row.
    pub failures: u32,
    /// When it was last visited.
    pub last_visit: Option<Timestamp>,
    /// When it is visited again.
    pub next_due: Timestamp,
}

/// A report on a seed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeedReport {
    /// The seed.
    pub url: String,
    /// Where its redirects lead, if it has any.
    pub target: Option<String>,
    /// How the last visit to the seed, or to its target, ended; empty before it.
    pub ended: &'static str,
    /// More about that: a status, or the rule that leaves the target out.
    pub reason: Option<String>,
    /// Whether nothing could be fetched.
    pub is_lost: bool,
}

impl SeedReport {
    /// Its redirects lead back to where they came from.
    pub(crate) const LOOP: &'static str = "redirect loop";
    /// Its redirect names no page.
    pub(crate) const NOWHERE: &'static str = "a redirect that names no page";
}

/// A bar of a histogram.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bin {
    /// From this interval on.
    pub from: Interval,
    /// Up to this one.
    pub to: Interval,
    /// How many.
    pub count: u64,
}

/// The figures of paper 003.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// Figure 3: pages by the interval at which they are visited again.
    pub revisit_intervals: Vec<Bin>,
    /// Figure 4: for the bars of figure 3, changes seen a visit: mean and standard deviation.
    pub change_ratios: Vec<(f64, f64)>,
    /// Figure 5: servers by the interval between requests that their schedule asks for, 1/L.
    pub server_intervals: Vec<Bin>,
    /// The same after overload is resolved.
    pub server_intervals_resolved: Vec<Bin>,
}

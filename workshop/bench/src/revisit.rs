//! `cargo xtask bench revisit`: every estimator and allocation over recorded histories of real pages, at equal budgets.
//!
//! A trace says when each page of a site appeared, changed and vanished. The [`replay`] plays it from a cold start: a
//! number of visits a day, evenly spread, goes to known pages that a planner chooses. [`score`] measures how fresh the
//! copy was over the last three quarters of the window (D20). [`estimates`] compares the estimators with known rates.

mod bounds;
pub(crate) mod contender;
mod crawler;
mod estimates;
mod hints;
mod replay;
mod report;
mod scheduled;
pub(crate) mod score;
mod synthetic;
#[cfg(test)]
mod tests;
pub(crate) mod trace;

use anyhow::{Context, Result, ensure};
use base::clock::{Clock, RealClock};
use base::limits::REVISIT_INTERVAL_MIN;
use base::{Interval, Timestamp};
use contender::Contender;
use frontier::RevisitPolicy;
use std::path::PathBuf;
use trace::Trace;

/// Compare revisit policies: every estimator and allocation over recorded histories of pages, at equal budgets
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  cargo xtask bench revisit --traces ../shared/data/traces
  cargo xtask bench revisit --traces ../shared/data/traces --every 30 --from 2022-01-01 --to 2026-08-01 --json
  cargo xtask bench revisit --traces ../shared/data/traces --policy co-change/root --policy paper/scaled
  cargo xtask bench revisit --traces ../shared/data/traces --every 30 --crawler
  cargo xtask bench revisit --synthetic --every 30
  cargo xtask bench revisit --estimates")]
pub(crate) struct Args {
    /// The directory with NAME.events.tsv.gz and NAME.pages.tsv.gz
    #[arg(long, value_name = "DIR", required_unless_present_any = ["estimates", "synthetic"])]
    traces: Option<PathBuf>,
    /// Made traces with what the recorded ones lack, instead of `--traces`
    #[arg(long, conflicts_with_all = ["traces", "from", "to"])]
    synthetic: bool,
    /// Mean days between visits to a page
    #[arg(long, value_name = "DAYS", value_delimiter = ',', default_values_t = [7.0, 30.0, 100.0], value_parser = days)]
    every: Vec<f64>,
    /// Begin here; without it, with the first event of each trace
    #[arg(long, value_name = "DATE", value_parser = moment)]
    from: Option<Timestamp>,
    /// End here; without it, with the last event of each trace
    #[arg(long, value_name = "DATE", value_parser = moment)]
    to: Option<Timestamp>,
    /// Only these policies, such as `co-change/root`
    #[arg(long = "policy", value_name = "POLICY", value_delimiter = ',')]
    policies: Vec<RevisitPolicy>,
    /// Let the frontier itself crawl the traces by the default policy, in simulated time, and compare it with the replay
    #[arg(long, conflicts_with = "estimates")]
    crawler: bool,
    /// Compare the estimators with known change rates, on simulated pages
    #[arg(long, conflicts_with_all = ["traces", "synthetic", "from", "to", "policies"])]
    estimates: bool,
    /// Only `uniform` and the policies, without hints and bounds
    #[arg(long, requires = "policies")]
    plain: bool,
    /// The default with each of its numbers halved and doubled, and those that serve best on all traces but one, scored on that one
    #[arg(long, conflicts_with_all = ["policies", "crawler", "estimates"])]
    tuning: bool,
    /// Print one object a line
    #[arg(long)]
    json: bool,
}

fn days(text: &str) -> Result<f64, String> {
    let days: f64 = text.parse().map_err(|_| format!("`{text}` is no number of days"))?;
    let is_fit = days.is_finite() && days * 86_400.0 >= REVISIT_INTERVAL_MIN.as_seconds_f64();
    if is_fit { Ok(days) } else { Err(format!("want more than 0 days, {REVISIT_INTERVAL_MIN} at least")) }
}

fn moment(text: &str) -> Result<Timestamp, base::time::TimeError> {
    Timestamp::parse(text, RealClock::start().now())
}

/// Runs the comparison.
pub(crate) fn run(args: &Args) -> Result<()> {
    if args.estimates {
        estimates::run(args.json);
        return Ok(());
    }
    if let (Some(from), Some(to)) = (args.from, args.to) {
        ensure!(from < to, "nothing lies between `--from {from}` and `--to {to}`");
    }
    #[expect(clippy::cast_precision_loss, reason = "seconds since 1970")]
    let seconds = |at: Option<Timestamp>| at.map(|at| at.as_seconds() as f64);
    let traces = if args.synthetic {
        synthetic::all()
    } else {
        let directory = args.traces.as_ref().context("`--traces` names no directory")?;
        Trace::read_all(directory, (seconds(args.from), seconds(args.to)))?
    };
    let contenders = match () {
        () if args.crawler => Contender::crawler(),
        () if args.tuning => Contender::tuned(),
        () if args.plain => Contender::plain(&args.policies),
        () => Contender::all(&args.policies),
    };
    for every_days in &args.every {
        let every = Interval::from_days(1).times(*every_days);
        let played = contender::play_all(&contenders, &traces, every);
        if args.json {
            report::print_json(&played, &traces, *every_days);
        } else {
            report::print(&played, &traces, *every_days);
            if args.tuning {
                report::print_left_out(&played, &traces);
            }
        }
    }
    Ok(())
}

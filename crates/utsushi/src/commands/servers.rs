//! `utsushi servers`: how busy the schedule keeps each server, and who is overloaded (C5).

use super::Context;
use crate::exit::{Advised, Exit};
use crate::node::control::Request;
use crate::node::life::Server;
use crate::node::steering::Steering;
use crate::words::{count_of, grouped};
use base::{Interval, ServerName};

const EXAMPLES: &str = "\
Examples:
  utsushi --data ~/web servers
  utsushi --data ~/web servers --overloaded --limit 100
  utsushi --data ~/web --json servers www.example.org";

/// The widest name that is shown whole.
const NAME_CHARS_MAX: usize = 34;

/// How busy the schedule keeps each server: overloaded ones first, then by load
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Only this server
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Only those whose schedule asks for more than their pause allows
    #[arg(long)]
    overloaded: bool,
    /// So many at most
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
}

/// Prints the servers.
pub(crate) async fn run(args: &Args, context: &Context) -> anyhow::Result<Exit> {
    let name = args.name.as_deref().map(read_name).transpose()?;
    let steering = Steering::find(context, "servers", None).await?;
    let request = Request::Servers { overloaded: args.overloaded, name, limit: args.limit as usize };
    let shown = show(&steering, request, context).await?;
    steering.close().await?;
    if shown == 0 {
        context.output.complaint(match (&args.name, args.overloaded) {
            (Some(name), _) => format!("no server `{name}` is known"),
            (None, true) => "no server is overloaded".to_owned(),
            (None, false) => "no server is known".to_owned(),
        });
    }
    // That nobody is overloaded is good news.
    Ok(if shown == 0 && !args.overloaded { Exit::Found } else { Exit::Done })
}

fn read_name(text: &str) -> anyhow::Result<String> {
    let name = ServerName::parse(text).map_err(|error| {
        let advice = "write it as `www.example.org`, or `www.example.org:8080`";
        Advised::new(format!("cannot look for `{}`", base::printable(text)), advice, error)
    })?;
    Ok(name.as_str().to_owned())
}

/// Asks for servers and prints them; how many there were.
pub(crate) async fn show(steering: &Steering, request: Request, context: &Context) -> anyhow::Result<usize> {
    let servers = steering.ask_for::<Server>(request).await?;
    if !context.output.json() && !servers.is_empty() {
        context.output.line(HEAD);
    }
    for server in &servers {
        context.output.result(server, || line(server));
    }
    Ok(servers.len())
}

const HEAD: &str =
    "SERVER                                 PAGES      NEW   QUEUED     NEEDS    PAUSE  REMARKS";

/// One server in at most a hundred columns; what it needs is the interval between requests that keeps the schedule.
fn line(server: &Server) -> String {
    let (pages, new, queued) = (short(server.pages), short(server.new), short(server.queued));
    let needs = server.interval.map_or_else(|| "-".to_owned(), time);
    let pause = time(server.pause);
    let name = name(&server.server);
    let remarks = remarks(server);
    let line = format!("{name:<34} {pages:>9}{new:>9}{queued:>9}{needs:>10}{pause:>9}  {remarks}");
    line.trim_end().to_owned()
}

fn name(server: &str) -> String {
    if server.chars().count() <= NAME_CHARS_MAX {
        return server.to_owned();
    }
    // The end of a name says more than its beginning.
    let skipped = server.chars().count() + 1 - NAME_CHARS_MAX;
    format!("…{}", server.chars().skip(skipped).collect::<String>())
}

fn remarks(server: &Server) -> String {
    let mut remarks = Vec::new();
    if server.overloaded {
        remarks.push("overloaded".to_owned());
    }
    if server.dropped > 0 {
        remarks.push(format!("-{}", short(server.dropped)));
    }
    if server.agreed {
        remarks.push("agreed".to_owned());
    }
    if server.failures > 0 {
        remarks.push(count_of(server.failures.into(), "failure"));
    }
    if let Some(name) = &server.alias_of {
        remarks.push(format!("= {name}"));
    }
    if let Some(freshness) = server.expected_freshness {
        remarks.push(format!("{:.1}% fresh", freshness * 100.0));
    }
    remarks.join(" ").chars().take(17).collect()
}

/// A count in nine columns at most.
fn short(count: u64) -> String {
    if count < 10_000_000 { grouped(count) } else { format!("{}M", count / 1_000_000) }
}

/// A length of time in a few letters.
fn time(seconds: f64) -> String {
    match seconds {
        ..0.001 => "0s".to_owned(),
        0.001..1.0 => format!("{:.0}ms", seconds * 1e3),
        1.0..120.0 => format!("{seconds:.1}s"),
        120.0..7_200.0 => format!("{:.1}m", seconds / 60.0),
        7_200.0..172_800.0 => format!("{:.1}h", seconds / 3_600.0),
        _ if seconds < Interval::from_days(10_000).as_seconds_f64() => format!("{:.1}d", seconds / 86_400.0),
        _ => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_fits_a_hundred_columns() {
        let server = Server {
            server: "a-very-long-name-of-a-server-in-a-far.country.example:8080".to_owned(),
            pages: 123_456_789_012,
            new: 9_999_999,
            queued: 8_888_888,
            interval: Some(86_400.0 * 399.0),
            pause: 86_400.0,
            overloaded: true,
            dropped: 12_345_678,
            agreed: true,
            failures: 12,
            alias_of: Some("example".to_owned()),
            ..Server::default()
        };
        let line = line(&server);
        assert!(line.chars().count() <= 100, "{} {line}", line.chars().count());
        assert!(line.starts_with("…") && line.contains("country.example:8080"), "{line}");
        assert!(HEAD.len() <= 100);
    }

    #[test]
    fn columns_stand_below_their_names() {
        let server = Server {
            server: "a.jp".to_owned(),
            pages: 1,
            new: 2,
            queued: 3,
            interval: Some(4.0),
            pause: 10.0,
            ..Server::default()
        };
        let line = line(&server);
        for (word, value) in
            [("PAGES", "1"), ("NEW", "2"), ("QUEUED", "3"), ("NEEDS", "4.0s"), ("PAUSE", "10.0s")]
        {
            let end = HEAD.find(word).unwrap() + word.len();
            assert!(line[..end].ends_with(value), "{word}: {line}");
        }
    }
}

//! Fetching and archiving beside other clients: `bench fetch`.

use crate::compare;
use crate::fetch_pages::List;
use crate::fetch_server::Server;
use crate::process;
use crate::warc_pages::cannot;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// What a fetched and archived page costs, against wget, wget2, spider and a bare loop
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  cargo xtask bench fetch
  cargo xtask bench fetch --quick
  cargo xtask bench fetch --json")]
pub(crate) struct Args {
    /// Pages to fetch, if there are as many
    #[arg(long, default_value_t = 10_000)]
    pages: usize,
    /// Servers, each at an address of its own
    #[arg(long, default_value_t = 8)]
    servers: u8,
    /// Turns of every client
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Pages between two syncs of ours and of the bare loop
    #[arg(long, default_value_t = 500)]
    batch: u64,
    /// Print one object a line
    #[arg(long)]
    json: bool,
    /// Where files are made
    #[arg(long)]
    directory: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<bool> {
    let directory = work_directory(args.directory.as_deref())?;
    let root = std::env::var_os("UTSUSHI_PAGES").context("run this through `cargo xtask bench fetch`")?;
    let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let list = List::of(Path::new(&root), args.pages, args.servers, port, "http")?;
    let list_file = directory.join("list");
    list.write(&list_file)?;
    let server = Server::start(&directory.join("nginx"), Path::new(&root), args.servers, port)?;
    for _ in 0..args.rounds {
        for name in ["fetch-cell", "fetch-bare"] {
            let to = directory.join(name);
            let _ = std::fs::remove_dir_all(&to);
            server.forget()?;
            let mut command = compare::ourselves()?;
            command.arg(name).arg("--list").arg(&list_file).arg("--directory").arg(&to);
            command.args(["--batch", &args.batch.to_string()]);
            let used = process::measure(&mut command)?;
            let seen = server.seen()?;
            let n = list.urls.len() as f64;
            println!(
                "{name}: {:.1} us/page, {:.0} pages/s {used:?} {seen:?}",
                used.cpu_seconds * 1e6 / n,
                n / used.seconds
            );
        }
    }
    Ok(true)
}

fn work_directory(given: Option<&Path>) -> Result<PathBuf> {
    let default = std::env::current_exe().context("cannot find this program")?;
    let target = default.ancestors().nth(2).context("the program lies in a target directory")?;
    let directory = given.map_or_else(|| target.join("tmp/bench-fetch"), Path::to_owned);
    std::fs::create_dir_all(&directory).with_context(|| cannot("make", &directory))?;
    Ok(directory)
}

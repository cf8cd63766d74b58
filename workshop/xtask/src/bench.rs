//! `cargo xtask bench`: builds the benchmarks and the program, and runs one.

mod coverage;
mod crawl;
mod fetch;
mod peers;
mod scan;
mod warc;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::tools::debian;
use crate::workspace::Workspace;
use crate::{Verdict, process};

/// The variable with the path of our program.
const PROGRAM: &str = "UTSUSHI_PROGRAM";

/// A program from Debian that a benchmark runs.
struct Peer {
    /// The benchmark that runs it.
    bench: &'static str,
    name: &'static str,
    packages: &'static [&'static str],
    /// Its path in the package.
    program: &'static str,
    /// An argument with which it answers and exits.
    probe: &'static str,
    /// The variable with its path.
    variable: &'static str,
    /// The variable for its `LD_LIBRARY_PATH`, if it needs one.
    libraries_variable: &'static str,
}

const NGINX: Peer = Peer {
    bench: "sim",
    name: "nginx",
    packages: &["nginx-light"],
    program: "usr/sbin/nginx",
    probe: "-v",
    variable: "UTSUSHI_NGINX",
    libraries_variable: "UTSUSHI_NGINX_LIBS",
};

const WGET: Peer = Peer {
    bench: fetch::BENCH,
    name: "wget",
    packages: &["wget"],
    program: "usr/bin/wget",
    probe: "--version",
    variable: "UTSUSHI_WGET",
    libraries_variable: "UTSUSHI_WGET_LIBS",
};

const WGET2: Peer = Peer {
    bench: fetch::BENCH,
    name: "wget2",
    packages: &["wget2"],
    program: "usr/bin/wget2",
    probe: "--version",
    variable: "UTSUSHI_WGET2",
    libraries_variable: "UTSUSHI_WGET2_LIBS",
};

const PARALLEL: Peer = Peer {
    bench: scan::BENCH,
    name: "parallel",
    packages: &["parallel"],
    program: "usr/bin/parallel",
    probe: "--version",
    variable: "UTSUSHI_PARALLEL",
    libraries_variable: "UTSUSHI_PARALLEL_LIBS",
};

const PEERS: &[Peer] = &[
    PARALLEL,
    NGINX,
    Peer { bench: fetch::BENCH, ..NGINX },
    Peer { bench: coverage::BENCH, ..NGINX },
    WGET,
    WGET2,
    Peer { bench: crawl::BENCH, ..NGINX },
    Peer { bench: crawl::BENCH, ..WGET },
    Peer { bench: crawl::BENCH, ..WGET2 },
];

/// Build the benchmarks and the program, and run one benchmark.
///
/// Programs that a benchmark compares with are unpacked from Debian packages below the target directory; the system
/// stays as it was, and no service is started. Stores that a benchmark compares with are built from source, which takes
/// long the first time.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cargo xtask bench --list
  cargo xtask bench sim
  cargo xtask bench sim --help")]
pub(crate) struct Args {
    /// The benchmark, and arguments for it.
    #[arg(required_unless_present = "list", trailing_var_arg = true, value_name = "NAME [ARGS]")]
    name_and_args: Vec<String>,
    /// Print the benchmarks, and the Debian packages they use.
    #[arg(long, conflicts_with = "name_and_args")]
    list: bool,
}

/// Runs the task.
pub(crate) fn run(args: &Args) -> Result<Verdict> {
    let workspace = Workspace::load()?;
    let release = workspace.target.join("release");
    let Some((name, args)) = args.name_and_args.split_first() else { return list(&release) };

    let mut bench = Command::new(release.join("bench"));
    bench.arg(name).args(args).env(PROGRAM, release.join("utsushi"));
    for peer in PEERS.iter().filter(|peer| peer.bench == name) {
        lead_to(peer, &workspace, &mut bench)?;
    }
    if peers::BENCHES.contains(&name.as_str()) {
        peers::lead_to(&workspace, &mut bench);
    }
    if name == warc::BENCH {
        warc::lead_to(&workspace, &mut bench)?;
    }
    if name == fetch::BENCH {
        fetch::lead_to(&workspace, &mut bench)?;
    }
    if name == scan::BENCH {
        scan::lead_to(&workspace, &mut bench)?;
    }
    if name == crawl::BENCH {
        crawl::lead_to(&workspace, &mut bench)?;
    }
    if name == coverage::BENCH {
        coverage::lead_to(&workspace, &mut bench)?;
    }
    build()?;
    verdict(&mut bench)
}

fn list(release: &Path) -> Result<Verdict> {
    build()?;
    process::must_succeed(Command::new(release.join("bench")).arg("--help"))?;
    println!("\nDebian packages, unpacked for a benchmark that uses them:");
    for peer in PEERS {
        println!("  {:<12} {}", peer.bench, peer.packages.join(" "));
    }
    for bench in peers::BENCHES {
        println!("  {bench:<12} {}", peers::PACKAGES.join(" "));
    }
    for bench in [warc::BENCH, fetch::BENCH, crawl::BENCH, scan::BENCH] {
        println!("  {bench:<12} {}", warc::PACKAGES.join(" "));
    }
    println!("  {:<12} {}", coverage::BENCH, coverage::PACKAGES.join(" "));
    Ok(Verdict::Clean)
}

/// Builds the benchmarks and the program together, so that every run shares one build of what both use.
fn build() -> Result<()> {
    process::must_succeed(process::cargo().args([
        "build",
        "--release",
        "--package",
        "bench",
        "--package",
        "utsushi",
    ]))
}

/// Unpacks `peer`, checks that it runs, and passes its path to `bench`.
fn lead_to(peer: &Peer, workspace: &Workspace, bench: &mut Command) -> Result<()> {
    let tree = debian::tree(workspace, peer.name, peer.packages)?;
    let program = program_of(peer, &tree)?;
    let libraries = std::env::join_paths(debian::library_directories(&tree))?;
    let mut probe = Command::new(&program);
    probe.arg(peer.probe);
    bench.env(peer.variable, &program);
    if !libraries.is_empty() {
        probe.env("LD_LIBRARY_PATH", &libraries);
        bench.env(peer.libraries_variable, &libraries);
    }
    ensure!(process::answers(&mut probe), "`{} {}` fails", program.display(), peer.probe);
    Ok(())
}

/// Where `peer` is: in its tree, or in the system if that has the package already.
fn program_of(peer: &Peer, tree: &Path) -> Result<PathBuf> {
    let places = [tree.join(peer.program), Path::new("/").join(peer.program)];
    let found = places.into_iter().find(|place| place.is_file());
    found.with_context(|| format!("package `{}` holds no `{}`", peer.packages.join(" "), peer.program))
}

/// Runs `bench`, whose exit codes are those of our tasks.
fn verdict(bench: &mut Command) -> Result<Verdict> {
    let status = bench.status().context("cannot start the benchmark")?;
    match status.code() {
        Some(0) => Ok(Verdict::Clean),
        Some(1) => Ok(Verdict::Found),
        _ => bail!("the benchmark could not be run: {status}"),
    }
}

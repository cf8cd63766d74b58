//! `cargo xtask torture`: the crash and fault tests at full length.
//!
//! The tests are the ones that every test run carries out in short. They read from the environment how many rounds
//! to play and with which seed. `fuzz` is no test: it runs the targets of `workshop/fuzz` for so many minutes.

mod fuzz;

use anyhow::{Result, bail, ensure};

use crate::test::{FASTWARC, WARCIO};
use crate::tools::python;
use crate::workspace::Workspace;
use crate::{Verdict, process};

/// The variable that tells a test how many rounds to play.
const COUNT: &str = "UTSUSHI_TORTURE_COUNT";
/// The variable that tells a test where its random numbers start.
const SEED: &str = "UTSUSHI_TORTURE_SEED";

/// One kind of torture.
struct Torture {
    name: &'static str,
    package: &'static str,
    /// What the names of its tests contain.
    filter: &'static str,
    rounds: u64,
    about: &'static str,
}

const TORTURES: &[Torture] = &[
    Torture {
        name: "archive-accepted",
        package: "archive",
        filter: "accepted_",
        rounds: 50_000,
        about: "everything that is written passes our validator, warcio and FastWARC",
    },
    Torture {
        name: "archive-cut",
        package: "archive",
        filter: "survives_",
        rounds: 5_000,
        about: "fail or cut the archive's writes, reopen it, find every synced capture; the index agrees",
    },
    Torture {
        name: "archive-detects",
        package: "archive",
        filter: "detects_",
        rounds: 10_000,
        about: "flip bits of the archive's files, sums, runs: told, never served",
    },
    Torture {
        name: "archive-model",
        package: "archive",
        filter: "model_",
        rounds: 1_000,
        about: "random use of the archive and loss of what is derived, compared with maps",
    },
    Torture {
        name: "archive-oracle",
        package: "archive",
        filter: "agree_with_the_oracle",
        rounds: 10_000,
        about: "snapshots of random histories through the index, compared with a brute-force oracle",
    },
    Torture {
        name: "crawl-kill",
        package: "utsushi",
        filter: "killed_crawl_",
        rounds: 500,
        about: "kill a crawl of the simulated web again and again: nothing lost, nothing twice, nobody asked too soon",
    },
    Torture {
        name: "disk",
        package: "base",
        filter: "model_",
        rounds: 200_000,
        about: "random operations on the disks, compared with a model",
    },
    Torture {
        name: "fetch-hostile",
        package: "fetch",
        filter: "hostile",
        rounds: 120,
        about: "a thousand hostile servers at once beside 200 honest pages a second, for so many seconds",
    },
    Torture {
        name: "guard",
        package: "guard",
        filter: "survives_h13_",
        rounds: 10_000,
        about: "a client without any pause behind the guard, watched from the servers' side; and without the guard",
    },
    Torture {
        name: "guard-model",
        package: "guard",
        filter: "model_",
        rounds: 5_000_000,
        about: "random clients of the guard's gate, compared with what each server would have seen",
    },
    Torture {
        name: "kill",
        package: "utsushi",
        filter: "kill_",
        rounds: 100,
        about: "kill the running program, start it again, lose nothing it had confirmed",
    },
    Torture {
        name: "sat-detects",
        package: "sat",
        filter: "detects_",
        rounds: 5_000,
        about: "flip bits of the state store, lose and misplace its writes: told, never served",
    },
    Torture {
        name: "sat-model",
        package: "sat",
        filter: "model_",
        rounds: 2_000_000,
        about: "random use of the state store with power cuts, compared with maps",
    },
    Torture {
        name: "sat-survives",
        package: "sat",
        filter: "survives_",
        rounds: 3_000,
        about: "fail, fill or cut the state store's writes, fail its reads, find what was acknowledged",
    },
    Torture {
        name: "scan-kill",
        package: "utsushi",
        filter: "killed_scan_",
        rounds: 200,
        about: "kill workers and programs of a scan, and the scan itself once in ten: the results are the same",
    },
    Torture {
        name: "scan-poison",
        package: "utsushi",
        filter: "poisoned_scan_",
        rounds: 10_000,
        about: "so many documents, one in a hundred of which kills its analyser: those are set aside, and nothing else",
    },
    Torture {
        name: "year",
        package: "crawl",
        filter: "year_is_",
        rounds: 1_000_000,
        about: "a year of the frontier over a web of so many pages, judged from the servers' side",
    },
];

/// Run the crash and fault tests at full length.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cargo xtask torture --list
  cargo xtask torture archive-cut
  cargo xtask torture kill --count 1000 --seed 7
  cargo xtask torture fuzz --minutes 20 --target warc")]
pub(crate) struct Args {
    /// What to torture.
    #[arg(required_unless_present = "list")]
    name: Option<String>,
    /// How many rounds to play; each torture has a number of its own.
    #[arg(long, value_name = "N")]
    count: Option<u64>,
    /// Where the random numbers start; without it the tests choose.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Print the tortures and do nothing.
    #[arg(long, conflicts_with_all = ["name", "count", "seed"])]
    list: bool,
    #[command(flatten)]
    fuzz: fuzz::Choice,
}

/// The name of the torture that is no test.
const FUZZ: &str = "fuzz";

/// Runs the task.
pub(crate) fn run(args: &Args) -> Result<Verdict> {
    let Some(name) = &args.name else {
        print_list();
        return Ok(Verdict::Clean);
    };
    if name == FUZZ {
        ensure!(
            args.count.is_none() && args.seed.is_none(),
            "`fuzz` takes `--minutes`, not `--count` or `--seed`"
        );
        return fuzz::run(&args.fuzz);
    }
    ensure!(!args.fuzz.is_given(), "only `fuzz` takes `--minutes`, `--target` and `--minimise`");
    let torture = find(name)?;
    ensure_has_tests(torture)?;
    let mut test = cargo_test(torture);
    test.args(["--nocapture", torture.filter]);
    test.env(COUNT, args.count.unwrap_or(torture.rounds).to_string());
    let workspace = Workspace::load()?;
    // Some ask peers what they think of what was written.
    test.env(WARCIO, python::warcio(&workspace)?).env(FASTWARC, python::fastwarc(&workspace)?);
    if let Some(seed) = args.seed {
        test.env(SEED, seed.to_string());
    }
    let passed = process::succeeds(&mut test)?;
    println!("torture `{name}`: {}", if passed { "survived" } else { "FAILED" });
    Ok(Verdict::passed(passed))
}

fn print_list() {
    println!("{:<16} {:<8} {:<10} {:>7}  what it does", "name", "package", "tests", "rounds");
    for Torture { name, package, filter, rounds, about } in TORTURES {
        println!("{name:<16} {package:<8} {filter:<10} {rounds:>7}  {about}");
    }
    let about = "every decoder of foreign bytes under libFuzzer, 5 minutes each, or `--minutes`";
    println!("{FUZZ:<16} {:<8} {:<10} {:>7}  {about}", "fuzz", "–", "–");
}

fn find(name: &str) -> Result<&'static Torture> {
    if let Some(torture) = TORTURES.iter().find(|torture| torture.name == name) {
        return Ok(torture);
    }
    let names = TORTURES.iter().map(|torture| torture.name).chain([FUZZ]);
    let known: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    bail!("there is no torture `{name}`; there are {}", known.join(", "))
}

/// A torture whose filter finds no test would pass without having done anything.
fn ensure_has_tests(torture: &Torture) -> Result<()> {
    let listing = process::output(cargo_test(torture).args(["--list", torture.filter]))?;
    let has_tests = listing.lines().any(|line| line.ends_with(": test"));
    ensure!(has_tests, "package `{}` has no test named `{}…`", torture.package, torture.filter);
    Ok(())
}

/// `cargo test` for the tests of `torture`, ready for arguments to the test programs.
fn cargo_test(torture: &Torture) -> std::process::Command {
    let mut test = process::cargo();
    test.args(["test", "--release", "--package", torture.package, "--tests", "--"]);
    test
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{TORTURES, find};

    #[test]
    fn no_two_tortures_share_a_name() {
        let names: BTreeSet<_> = TORTURES.iter().map(|torture| torture.name).collect();
        assert_eq!(names.len(), TORTURES.len());
    }

    #[test]
    fn an_unknown_torture_is_answered_with_the_known_ones() {
        let message = find("feather").map(|torture| torture.name).unwrap_err().to_string();
        let known = "`archive-accepted`, `archive-cut`, `archive-detects`, `archive-model`, `archive-oracle`, \
                     `crawl-kill`, `disk`, `fetch-hostile`, `guard`, `guard-model`, `kill`, `sat-detects`, `sat-model`, `sat-survives`, \
                     `scan-kill`, `scan-poison`, `year`, `fuzz`";
        assert_eq!(message, format!("there is no torture `feather`; there are {known}"));
    }
}

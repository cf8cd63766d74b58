//! The project's tasks, run as `cargo xtask TASK`.
//!
//! Each task is one file, and each says with `--help` what it does and shows an example.
//!
//! Exit codes: 0 done; 1 done and something was found (a failing test, a licence not allowed); 2 failed.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line program speaks by printing")]

mod advisories;
mod bench;
mod ci;
mod clock;
mod codes;
mod dictionary;
mod house;
mod layers;
mod licences;
mod process;
mod synonyms;
mod test;
mod tools;
mod torture;
mod train;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The result of a task that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Nothing was found.
    Clean,
    /// Something was found, and has been printed.
    Found,
}

impl Verdict {
    /// The verdict of a check whose only answer is whether it passed.
    pub(crate) fn passed(passed: bool) -> Self {
        if passed { Self::Clean } else { Self::Found }
    }
}

/// The tasks of the project.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", disable_help_subcommand = true)]
#[command(after_help = "Examples:
  cargo xtask test                  run every test
  cargo xtask ci                    run the checks that are not tests
  cargo xtask bench --list          show the benchmarks

Exit codes: 0 done; 1 done and something was found; 2 could not.")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    Test(test::Args),
    Bench(bench::Args),
    Torture(torture::Args),
    Ci(ci::Args),
    Licences(licences::Args),
    Advisories(advisories::Args),
    Layers(layers::Args),
    Codes(codes::Args),
    House(house::Args),
    Train(train::Args),
    Dictionary(dictionary::Args),
    Synonyms(synonyms::Args),
}

fn main() -> ExitCode {
    let verdict = match Cli::parse().task {
        Task::Test(args) => test::run(&args),
        Task::Bench(args) => bench::run(&args),
        Task::Torture(args) => torture::run(&args),
        Task::Ci(args) => ci::run(&args),
        Task::Licences(args) => licences::run(&args),
        Task::Advisories(args) => advisories::run(&args),
        Task::Layers(args) => layers::run(&args),
        Task::Codes(args) => codes::run(&args),
        Task::House(args) => house::run(&args),
        Task::Train(args) => train::run(&args),
        Task::Dictionary(args) => dictionary::run(&args),
        Task::Synonyms(args) => synonyms::run(&args),
    };
    match verdict {
        Ok(Verdict::Clean) => ExitCode::SUCCESS,
        Ok(Verdict::Found) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_task_shows_an_example() {
        for task in Cli::command().get_subcommands_mut() {
            let help = task.render_long_help().to_string();
            assert!(help.contains("Examples:\n  cargo xtask "), "`{}` shows none:\n{help}", task.get_name());
        }
    }
}

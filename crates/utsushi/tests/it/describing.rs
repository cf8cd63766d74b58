//! The commands that describe the program, and what a wrong command line gets.

use crate::program::{run, utsushi};

const COMMANDS: [&str; 20] = [
    "demo",
    "crawl",
    "add",
    "pause",
    "resume",
    "explain",
    "servers",
    "history",
    "get",
    "snapshot",
    "import",
    "export",
    "verify",
    "takedown",
    "rebuild",
    "sim",
    "status",
    "config",
    "completions",
    "man",
];

#[test]
fn help_names_every_command_and_has_an_example() {
    let help = run(utsushi().arg("--help")).done();
    assert!(help.contains("Examples:") && help.contains("Exit codes:"), "{help}");
    for command in COMMANDS {
        assert!(help.contains(&format!("\n  {command} ")), "{command}: {help}");
        let help = run(utsushi().args([command, "--help"])).done();
        assert!(help.contains("Example"), "{help}");
    }
    assert!(run(utsushi().args(["sim", "serve", "--help"])).done().contains("Examples:"));
}

#[test]
fn the_version_is_that_of_the_crate() {
    let version = concat!("utsushi ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(run(utsushi().arg("-V")).done(), version);
    let long = run(utsushi().arg("--version")).done();
    assert!(long.starts_with(version) && long.contains("IPADIC"), "{long}");
}

#[test]
fn a_wrong_command_line_could_not() {
    for wrong in
        [&[][..], &["nothing"], &["status", "--nothing"], &["sim"], &["sim", "serve", "--pages", "0"]]
    {
        let ended = run(utsushi().args(wrong));
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{wrong:?}");
        assert!(ended.stderr.contains("Usage: ") || ended.stderr.contains("--help"), "{}", ended.stderr);
    }
}

#[test]
fn completions_know_every_command() {
    for shell in ["bash", "zsh", "fish"] {
        let script = run(utsushi().args(["completions", shell])).done();
        for command in COMMANDS.iter().chain(&["serve"]) {
            assert!(script.contains(command), "{shell}: {command}");
        }
    }
}

#[test]
fn the_manual_is_roff_and_has_a_page_for_every_command() {
    let manual = run(utsushi().arg("man")).done();
    assert!(manual.starts_with(".ie \\n(.g .ds Aq") || manual.starts_with(".TH utsushi 1"), "{manual:.200}");
    for page in ["utsushi", "utsushi-sim-serve", "utsushi-status", "utsushi-config"] {
        assert!(manual.contains(&format!(".TH {page} 1")), "{page}");
    }
}

//! Runs the program.

use base::ContentDigest;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// How the program ended and what it said.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    /// The program could not, and said all of `parts` on standard error.
    #[track_caller]
    pub(crate) fn could_not(&self, parts: &[&str]) {
        assert_eq!(self.code, Some(2), "{self:?}");
        assert!(self.stderr.starts_with("utsushi: cannot "), "{self:?}");
        assert!(self.stderr.contains("\nwhat to do: "), "{self:?}");
        for part in parts {
            assert!(self.stderr.contains(part), "`{part}` is not in {self:?}");
        }
    }
    /// The program did what was asked and found something to tell; gives what it printed.
    #[track_caller]
    pub(crate) fn found(self, parts: &[&str]) -> String {
        assert_eq!(self.code, Some(1), "{self:?}");
        for part in parts {
            assert!(self.stderr.contains(part), "`{part}` is not in {self:?}");
        }
        self.stdout
    }
    /// The command line was wrong, and the message says all of `parts`.
    #[track_caller]
    pub(crate) fn wrong(&self, parts: &[&str]) {
        assert_eq!((self.code, self.stdout.as_str()), (Some(2), ""), "{self:?}");
        for part in parts {
            assert!(self.stderr.contains(part), "`{part}` is not in {self:?}");
        }
    }
    /// The program did what was asked; gives what it printed.
    #[track_caller]
    pub(crate) fn done(self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.stdout
    }
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

/// The program, in an environment of its own.
pub(crate) fn utsushi() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_utsushi"));
    command.env_remove("UTSUSHI_DATA").env_remove("UTSUSHI_LOG").stdin(Stdio::null());
    command
}

/// Runs a command to its end.
pub(crate) fn run(command: &mut Command) -> Ended {
    command.output().unwrap().into()
}

/// Runs the program on a data directory.
pub(crate) fn on(data: &Path, arguments: &[&str]) -> Ended {
    run(utsushi().arg("--data").arg(data).args(arguments))
}

/// The objects that the program printed, one a line.
pub(crate) fn objects(said: &str) -> Vec<serde_json::Value> {
    said.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Reports that something is not tested. Not by `eprintln!`, whose output is shown only for failed tests.
pub(crate) fn not_tested(what: &str) {
    let notice = format!("NOT TESTED: {what}\n");
    std::io::Write::write_all(&mut std::io::stderr(), notice.as_bytes()).unwrap();
}

/// The text of a whole `FORMAT` of any version.
pub(crate) fn format_text(version: u32, web: &str) -> String {
    let body = format!("format = {version}\ncreated = \"2026-03-31T09:00:00Z\"\nweb = \"{web}\"\n");
    format!("{body}check = \"{}\"\n", ContentDigest::of(body.as_bytes()))
}

/// Every file under `path` with its bytes, and every directory.
pub(crate) fn contents(path: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        let bytes = if path.is_dir() { Vec::new() } else { fs::read(&path).unwrap() };
        if path.is_dir() {
            found.extend(contents(&path));
        }
        found.insert(path, bytes);
    }
    found
}

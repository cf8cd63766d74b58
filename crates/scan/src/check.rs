//! Looks whether the program can be run at all, before anything is read.

use crate::error::Error;
use crate::role::SANDBOX;
use crate::run::spoken;
use crate::settings::{Settings, Work};
use crate::tree;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// An error that says what is missing: the program, or a sandbox for it.
pub(crate) fn program(settings: &Settings) -> Result<(), Error> {
    if !tree::can_see() {
        let what = "this system does not tell which processes a program has started: there is no `/proc/thread-self/children`";
        return Err(Error::Workers(what.to_owned()));
    }
    if let Work::Program(program) | Work::Each(program) = &settings.work {
        let name = program.first().map_or(OsStr::new(""), AsRef::as_ref);
        find(name)?;
    }
    sandbox(settings)
}

/// Where a program is: as it is named, or in one of the directories of `PATH`.
fn find(name: &OsStr) -> Result<PathBuf, Error> {
    let cannot =
        |why: &str| Error::NoProgram { program: name.to_string_lossy().into_owned(), why: why.to_owned() };
    if name.is_empty() {
        return Err(cannot("it has no name"));
    }
    if name.as_bytes().contains(&b'/') {
        let path = PathBuf::from(name);
        return match path.metadata() {
            Ok(found) if found.is_dir() => Err(cannot("it is a directory")),
            Ok(_) if !can_run(&path) => Err(cannot("it is not executable")),
            Ok(_) => Ok(path),
            Err(error) => Err(cannot(&error.to_string())),
        };
    }
    let directories = std::env::var_os("PATH").unwrap_or_default();
    let found =
        std::env::split_paths(&directories).map(|directory| directory.join(name)).find(|path| can_run(path));
    found.ok_or_else(|| cannot("there is no such program in any directory of PATH"))
}

fn can_run(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

/// Makes the sandbox once, with nothing in it.
fn sandbox(settings: &Settings) -> Result<(), Error> {
    let tried = Command::new(&settings.executable)
        .arg(SANDBOX)
        .arg(spoken(settings).write())
        .stdin(Stdio::null())
        .output();
    let tried = tried.map_err(|source| Error::io("run", &settings.executable, source))?;
    if tried.status.success() {
        return Ok(());
    }
    Err(Error::NoSandbox(String::from_utf8_lossy(&tried.stderr).trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expected: &str) {
        let why =
            find(OsStr::new(name)).map_or_else(|error| error.to_string(), |path| path.display().to_string());
        assert!(why.contains(expected), "{name}: {why}");
    }

    #[test]
    fn a_program_is_found_as_a_shell_finds_it() {
        check("sh", "/sh");
        check("/bin/sh", "/bin/sh");
        check("no-such-program", "no such program");
        check("./no-such-program", "No such file");
        check("/etc/passwd", "not executable");
        check("/etc", "directory");
        check("", "no name");
    }
}

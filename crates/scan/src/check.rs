//! Checks whether the program can be run, and as which user, before anything is read.

use crate::error::Error;
use crate::settings::{AnalysisCommand, Settings};
use crate::tree;
use crate::worker_config::{EXIT_OUT_OF_REACH, TRIAL, WorkerConfig};
use rustix::fs::{Access, access};
use rustix::process::geteuid;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Checks that the program can be run in its sandbox; an error names what is missing. If only root can reach the
/// program, the program keeps root's user.
pub(crate) fn program(settings: &mut Settings) -> Result<(), Error> {
    if !tree::can_see() {
        let what = "cannot list the processes that a program starts: `/proc/thread-self/children` is missing; mount `/proc` of a kernel with CONFIG_PROC_CHILDREN";
        return Err(Error::Workers(what.to_owned()));
    }
    if let Some(program) = program_of(&settings.work) {
        find(program.first().map_or(OsStr::new(""), AsRef::as_ref))?;
    }
    let Some(path) = out_of_reach(settings)? else { return Ok(()) };
    settings.confinement.keeps_user = true;
    if let Some(path) = out_of_reach(settings)? {
        return Err(Error::OutOfReach { path });
    }
    tracing::warn!(
        path = %path.display(),
        "other users than root cannot reach this: the program runs as root, without capabilities. \
         Give all users access to it, and the program runs as a user of its own"
    );
    Ok(())
}

/// What the program needs and cannot reach in its sandbox without the rights of root.
fn out_of_reach(settings: &Settings) -> Result<Option<PathBuf>, Error> {
    let tried = trial(settings)?;
    if tried.status.success() {
        return Ok(None);
    }
    if tried.status.code() != Some(EXIT_OUT_OF_REACH.into()) {
        return Err(Error::NoSandbox(String::from_utf8_lossy(&tried.stderr).trim().to_owned()));
    }
    Ok(Some(PathBuf::from(OsString::from_vec(tried.stderr))).filter(|_| geteuid().is_root()))
}

fn program_of(work: &AnalysisCommand) -> Option<&[OsString]> {
    match work {
        AnalysisCommand::Program(program) | AnalysisCommand::Each(program) => Some(program),
        AnalysisCommand::Builtin(_) => None,
    }
}

/// Enters the sandbox once, without running the program.
fn trial(settings: &Settings) -> Result<Output, Error> {
    let failed = |source| Error::io("make a directory in", &settings.scratch, source);
    let scratch = tempfile::Builder::new().prefix("trial-").tempdir_in(&settings.scratch).map_err(failed)?;
    let mut config = WorkerConfig::of(settings);
    config.scratch = scratch.path().to_owned();
    let mut command = Command::new(&settings.executable);
    command.arg(TRIAL).arg(config.write()).args(program_of(&settings.work).unwrap_or_default());
    command.stdin(Stdio::null()).output().map_err(|source| Error::io("run", &settings.executable, source))
}

/// What a program needs and this process can reach.
pub(crate) struct Reach {
    programs: Vec<OsString>,
    /// Files among the arguments: a script, a model.
    files: Vec<PathBuf>,
    writable: Vec<PathBuf>,
}

impl Reach {
    /// `own` is this executable, if it runs between the worker and the program.
    pub(crate) fn of(program: &[OsString], own: Option<&str>, writable: &[PathBuf]) -> Self {
        let files = program.iter().skip(1).map(PathBuf::from);
        let files = files.filter(|path| path.is_file() && access(path, Access::READ_OK).is_ok()).collect();
        let programs = own.map(OsString::from).into_iter().chain(program.first().cloned()).collect();
        Self { programs, files, writable: writable.to_vec() }
    }

    /// The first of them that is out of reach now.
    pub(crate) fn lost(&self, scratch: &Path) -> Option<PathBuf> {
        if let Some(name) = self.programs.iter().find(|name| find(name).is_err()) {
            return Some(name.into());
        }
        if let Some(file) = self.files.iter().find(|file| File::open(file).is_err()) {
            return Some(file.clone());
        }
        let mut written = self.writable.iter().map(PathBuf::as_path).chain([scratch]);
        written.find(|path| !can_write(path)).map(Path::to_owned)
    }
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

fn can_write(path: &Path) -> bool {
    let enter = if path.is_dir() { Access::EXEC_OK } else { Access::READ_OK };
    access(path, Access::WRITE_OK | enter).is_ok()
}

fn can_run(path: &Path) -> bool {
    path.is_file() && access(path, Access::EXEC_OK).is_ok()
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

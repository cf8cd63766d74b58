//! The sandbox of a program: this program, started again with one thread, restricts itself and becomes the other (D14, H22).
//!
//! | restriction | by |
//! |---|---|
//! | no capabilities, no way to get any; for root another user and group | [`identity`] |
//! | no sockets, no namespaces, nothing that concerns the machine or other processes | seccomp ([`calls`]) |
//! | no writing but where it may, no signals to others | Landlock |
//! | bounded memory, files, descriptors and processes | rlimits, control groups ([`crate::bound`]) |
//!
//! **Invariant:** where a restriction that was asked for does not hold, the program is not started.

mod calls;
mod identity;

use crate::bound;
use crate::settings::{Confinement, ProgramLimits};
use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, LandlockStatus,
    PathBeneath, PathFd, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, RulesetStatus, Scope,
};
use rustix::process::{
    Resource, Rlimit, Signal, geteuid, set_parent_process_death_signal, setrlimit, setsid,
};
use std::path::{Path, PathBuf};

/// A restriction that does not hold here.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("this kernel does not have Landlock, which keeps a program from writing elsewhere")]
    NoLandlock,
    #[error("cannot keep the program from writing elsewhere")]
    Landlock(#[from] landlock::RulesetError),
    #[error("cannot let the program write to `{}`", .0.display())]
    Path(PathBuf, #[source] landlock::PathFdError),
    #[error("cannot limit the system calls of the program")]
    Seccomp(#[from] seccompiler::Error),
    #[error("cannot limit the system calls of the program on this processor")]
    Processor(#[from] seccompiler::BackendError),
    #[error("cannot take the rights of root from the program")]
    Identity(#[source] rustix::io::Errno),
    #[error("cannot keep the program from files that are open")]
    Files(#[source] std::io::Error),
    #[error("cannot limit what the program takes")]
    Limits(#[from] rustix::io::Errno),
}

/// Restricts this process, which must have one thread, and all that it will start. `worker` is the process that looks after
/// it, `scratch` the directory that becomes its own. Says whether the program has another user than this process had.
pub(crate) fn enter(
    worker: u32,
    limits: &ProgramLimits,
    confinement: &Confinement,
    scratch: Option<&Path>,
) -> Result<bool, Error> {
    if confinement.is_lifted {
        limit(limits)?;
        bound::limit_tasks(limits.processes, false)?;
        return Ok(false);
    }
    leave_files()?;
    let is_counted_apart = bound::count_apart();
    let abi = restrict_files(confinement, scratch)?;
    let is_other = give_up_rights(worker, confinement, scratch).map_err(Error::Identity)?;
    limit(limits)?;
    bound::limit_tasks(limits.processes, is_other || is_counted_apart)?;
    let situation = calls::Situation {
        has_network: confinement.has_network,
        is_root: geteuid().is_root(),
        can_cut: abi < ABI::V3,
    };
    for filter in calls::filters(situation)? {
        seccompiler::apply_filter(&filter)?;
    }
    Ok(is_other)
}

/// Takes away what root has; says whether the user is another now.
fn give_up_rights(
    worker: u32,
    confinement: &Confinement,
    scratch: Option<&Path>,
) -> Result<bool, rustix::io::Errno> {
    identity::empty_bounding_set()?;
    let is_other = if confinement.keeps_user {
        identity::leave_groups()?;
        false
    } else {
        identity::leave_root(worker, scratch)?
    };
    identity::drop_capabilities()?;
    Ok(is_other)
}

/// Makes this process one that ends with its parent, apart from the terminal and its signals. To be called when the user
/// does not change any more: a change takes it back.
pub(crate) fn detach() -> Result<(), rustix::io::Errno> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // Whoever leads a group already cannot lead a session, and need not.
    let _ = setsid();
    Ok(())
}

/// A process may ask for this many times its memory limit without using it: what it uses is watched from outside.
const UNUSED_MEMORY_FACTOR: u64 = 2;
/// Each descriptor may be the end of a pipe, which is memory of the kernel.
pub(crate) const OPEN_FILES_MAX: u64 = 256;
/// Signals that wait, and timers.
const SIGNALS_MAX: u64 = 1_024;

fn limit(limits: &ProgramLimits) -> Result<(), Error> {
    let bounds = [
        (Resource::Data, limits.memory_bytes.saturating_mul(UNUSED_MEMORY_FACTOR)),
        (Resource::Fsize, limits.file_bytes),
        (Resource::Core, 0),
        (Resource::Nofile, OPEN_FILES_MAX),
        (Resource::Sigpending, SIGNALS_MAX),
        (Resource::Msgqueue, 0),
        (Resource::Nice, 0),
        (Resource::Rtprio, 0),
    ];
    bounds.into_iter().try_for_each(|(resource, most)| set_limit(resource, most)).map_err(Error::Limits)
}

/// Lowers a limit for good.
pub(crate) fn set_limit(resource: Resource, most: u64) -> Result<(), rustix::io::Errno> {
    let old = rustix::process::getrlimit(resource);
    let most = old.maximum.map_or(most, |maximum| most.min(maximum));
    setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })
}

/// Files that are open beside the three that everyone has are not passed on: whoever started us may have left some.
#[expect(unsafe_code, reason = "no safe call says this of files that are not known")]
fn leave_files() -> Result<(), Error> {
    let (first, last): (libc::c_uint, _) = (3, libc::c_uint::MAX);
    // SAFETY: no file is closed here; they are marked to be, when another program takes the place of this one.
    let left = unsafe { libc::syscall(libc::SYS_close_range, first, last, libc::CLOSE_RANGE_CLOEXEC) };
    if left == 0 { Ok(()) } else { Err(Error::Files(std::io::Error::last_os_error())) }
}

/// The rights of the newest Landlock that is known here; an older kernel enforces those that it has.
const ABI_WANTED: ABI = ABI::V6;

/// Lets the process and its children write where they may and nowhere else; says which Landlock does it.
fn restrict_files(confinement: &Confinement, scratch: Option<&Path>) -> Result<ABI, Error> {
    let writing = AccessFs::from_write(ABI_WANTED);
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_write(ABI::V1))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(writing)?
        .scope(Scope::Signal | Scope::AbstractUnixSocket)?;
    if !confinement.has_network {
        ruleset = ruleset.handle_access(AccessNet::from_all(ABI_WANTED))?;
    }
    let mut ruleset = ruleset.create()?;
    // No devices: they give access to disks.
    let granted = writing & !(AccessFs::MakeBlock | AccessFs::MakeChar);
    for directory in scratch.into_iter().chain(confinement.writable.iter().map(PathBuf::as_path)) {
        ruleset = ruleset.add_rule(beneath(directory, granted)?)?;
    }
    let to_nothing = AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
    for device in
        ["/dev/null", "/dev/zero", "/dev/full"].map(Path::new).into_iter().filter(|path| path.exists())
    {
        ruleset = ruleset.add_rule(beneath(device, to_nothing)?)?;
    }
    let status = ruleset.restrict_self()?;
    match (status.ruleset, status.landlock) {
        (RulesetStatus::NotEnforced, _) => Err(Error::NoLandlock),
        (_, LandlockStatus::Available { effective_abi, .. }) => Ok(effective_abi),
        _ => Err(Error::NoLandlock),
    }
}

fn beneath(path: &Path, rights: BitFlags<AccessFs>) -> Result<PathBeneath<PathFd>, Error> {
    let opened = PathFd::new(path).map_err(|error| Error::Path(path.to_owned(), error))?;
    // Of rights that only directories have, a file gets those that it can have.
    let rights = if path.is_dir() { rights } else { rights & AccessFs::from_file(ABI_WANTED) };
    Ok(PathBeneath::new(opened, rights))
}

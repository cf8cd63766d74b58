//! The sandbox of a program: this program, started anew with one thread, restricts itself and becomes the other (D14, H22).
//!
//! **Invariant:** where a restriction that was asked for does not hold, the program is not started.
//!
//! What it is kept from: sockets of any kind and whatever could make one (seccomp), writing anywhere but where it may,
//! signals to others (Landlock), and more memory, longer files and core files than it may have (rlimits). It may read
//! what its user may read. Changes of a file's mode, owner and times are not prevented.

use crate::settings::{Confinement, Limits};
use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, LandlockStatus,
    PathBeneath, PathFd, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, RulesetStatus, Scope,
};
use rustix::process::{Resource, Rlimit, Signal, set_parent_process_death_signal, setrlimit, setsid};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};
use std::collections::BTreeMap;
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
    #[error("cannot keep the program from the network")]
    Seccomp(#[from] seccompiler::Error),
    #[error("cannot keep the program from the network on this processor")]
    Processor(#[from] seccompiler::BackendError),
    #[error("cannot keep the program from files that are open")]
    Files(#[source] std::io::Error),
    #[error("cannot limit what the program takes")]
    Limits(#[from] rustix::io::Errno),
}

/// Restricts this process, which must have one thread, and all that it will start.
pub(crate) fn enter(limits: &Limits, confinement: &Confinement, scratch: &Path) -> Result<(), Error> {
    limit(limits)?;
    if confinement.is_lifted {
        return Ok(());
    }
    leave_files()?;
    let abi = restrict_files(confinement, scratch)?;
    let filter = filter(confinement.has_network, abi)?;
    Ok(seccompiler::apply_filter(&filter)?)
}

/// Makes this process one that ends with its parent, apart from the terminal and its signals.
pub(crate) fn detach() -> Result<(), rustix::io::Errno> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // Whoever leads a group already cannot lead a session, and need not.
    let _ = setsid();
    Ok(())
}

/// Of memory that is asked for and not used, so many times the limit may be had: the rest is watched from outside.
const UNUSED_MEMORY_FACTOR: u64 = 2;
const OPEN_FILES_MAX: u64 = 1_024;

fn limit(limits: &Limits) -> Result<(), Error> {
    let set = |resource, most: u64| {
        let old = rustix::process::getrlimit(resource);
        let most = old.maximum.map_or(most, |maximum| most.min(maximum));
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })
    };
    set(Resource::Data, limits.memory_bytes.saturating_mul(UNUSED_MEMORY_FACTOR))?;
    set(Resource::Fsize, limits.file_bytes)?;
    set(Resource::Core, 0)?;
    set(Resource::Nofile, OPEN_FILES_MAX)?;
    Ok(())
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
fn restrict_files(confinement: &Confinement, scratch: &Path) -> Result<ABI, Error> {
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
    // Nobody makes devices: they lead to disks.
    let granted = writing & !(AccessFs::MakeBlock | AccessFs::MakeChar);
    for directory in [scratch].into_iter().chain(confinement.writable.iter().map(PathBuf::as_path)) {
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

/// What no analysis needs: other processes' memory, other kernels' worlds, and ways around the rest.
const NEVER: &[i64] = &[
    libc::SYS_io_uring_setup,
    libc::SYS_ptrace,
    libc::SYS_process_vm_writev,
    libc::SYS_process_vm_readv,
    libc::SYS_pidfd_getfd,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsmount,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_acct,
    libc::SYS_quotactl,
    // What outlives the program, and is charged to nobody.
    libc::SYS_shmget,
    libc::SYS_msgget,
    libc::SYS_semget,
    libc::SYS_mq_open,
    // Memory that no process is charged with while it is not mapped.
    libc::SYS_memfd_create,
    libc::SYS_memfd_secret,
];
/// What leads to the network. Pairs of connected sockets that are streams lead nowhere and stay.
const NETWORK: &[i64] = &[libc::SYS_socket, libc::SYS_connect, libc::SYS_bind, libc::SYS_listen];
/// On x86-64 each call has a second number, by which an old interface reaches it.
const SECOND_NUMBERS: i64 = 0x4000_0000;

fn filter(has_network: bool, abi: ABI) -> Result<BpfProgram, seccompiler::BackendError> {
    let refused = NEVER.iter().chain(NETWORK.iter().filter(|_| !has_network));
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = refused.map(|call| (*call, Vec::new())).collect();
    // Its own limits are its own affair; those of others are not.
    rules.insert(libc::SYS_prlimit64, vec![SeccompRule::new(vec![is_not(0, 0)?])?]);
    // One of a pair of sockets for datagrams can send to any address.
    let datagrams = [libc::SOCK_DGRAM, libc::SOCK_RAW].map(|kind| is_kind_of_socket(1, kind));
    rules.insert(libc::SYS_socketpair, datagrams.into_iter().collect::<Result<_, _>>()?);
    if has_network {
        // The network is not the sockets of this machine, behind which others do what they are asked.
        let families = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
        let others = families.iter().map(|family| is_not(0, u64::from(family.unsigned_abs())));
        rules.insert(libc::SYS_socket, vec![SeccompRule::new(others.collect::<Result<_, _>>()?)?]);
    }
    if abi < ABI::V3 {
        // This Landlock does not know of cutting files short, which is writing too.
        rules.insert(libc::SYS_truncate, Vec::new());
        rules.insert(libc::SYS_openat2, Vec::new());
        rules.insert(libc::SYS_openat, vec![cuts_without_writing(2)?]);
        #[cfg(target_arch = "x86_64")]
        rules.insert(libc::SYS_open, vec![cuts_without_writing(1)?]);
    }
    if cfg!(target_arch = "x86_64") {
        let second: Vec<_> =
            rules.iter().map(|(call, rules)| (call | SECOND_NUMBERS, rules.clone())).collect();
        rules.extend(second);
    }
    let refuse = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, std::env::consts::ARCH.try_into()?)?;
    filter.try_into()
}

/// That an argument is something else.
fn is_not(argument: u8, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, value)
}

/// That the kind of a socket, without what goes with it, is this one.
fn is_kind_of_socket(argument: u8, kind: libc::c_int) -> Result<SeccompRule, seccompiler::BackendError> {
    const KINDS: u64 = 0xf;
    let (is_kind, kind) = (SeccompCmpOp::MaskedEq(KINDS), u64::from(kind.unsigned_abs()));
    SeccompRule::new(vec![SeccompCondition::new(argument, SeccompCmpArgLen::Dword, is_kind, kind)?])
}

/// A file opened to be read and cut short at the same time.
fn cuts_without_writing(argument: u8) -> Result<SeccompRule, seccompiler::BackendError> {
    let bits = u64::from((libc::O_TRUNC | libc::O_ACCMODE).unsigned_abs());
    let value = u64::from((libc::O_TRUNC | libc::O_RDONLY).unsigned_abs());
    let condition =
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(bits), value)?;
    SeccompRule::new(vec![condition])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_can_be_made_for_this_processor_and_every_landlock() {
        for (has_network, abi) in [(false, ABI::V1), (true, ABI::V2), (false, ABI::V6)] {
            assert!(!filter(has_network, abi).unwrap().is_empty());
        }
    }
}

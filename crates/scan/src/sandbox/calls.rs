//! Which system calls a program may make (seccomp).
//!
//! Two filters hold together. [`numbers`] knows every call that has a use here and answers `ENOSYS` to all others, also to
//! those that a later kernel will have, so that libraries fall back to an older call. [`arguments`] answers `EPERM` to the
//! calls among the known ones that a program must not make, or not with these arguments.
//!
//! **Invariant:** a call that is in no list is refused.

mod lists;

use lists::{
    ALLOWED, ALLOWED_ON_OLD_PROCESSORS, FAMILIES, FCNTL, IOCTL, JUDGED, METADATA, PERSONALITY_QUERY, PRCTL,
    REFUSED, REFUSED_ON_OLD_PROCESSORS, SOCKETS,
};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};
use std::collections::BTreeMap;

/// What the filters depend on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Situation {
    /// The program may use the network.
    pub(super) has_network: bool,
    /// The program has the user id of root, so that files of the system belong to it.
    pub(super) is_root: bool,
    /// Landlock knows nothing of cutting files short (before its third version).
    pub(super) can_cut: bool,
}

/// The filters, in the order in which they are to be applied.
pub(super) fn filters(situation: Situation) -> Result<[BpfProgram; 2], BackendError> {
    Ok([arguments(situation)?, numbers()?])
}

/// Allows the calls that are known, by their numbers alone: the kernel remembers the outcome and runs no filter for most.
fn numbers() -> Result<BpfProgram, BackendError> {
    let known = ALLOWED.iter().chain(ALLOWED_ON_OLD_PROCESSORS).chain(JUDGED).chain(SOCKETS).chain(METADATA);
    let known = known.chain(REFUSED).chain(REFUSED_ON_OLD_PROCESSORS);
    let rules = known.map(|call| (*call, Vec::new())).collect();
    filter(rules, SeccompAction::Errno(libc::ENOSYS.unsigned_abs()), SeccompAction::Allow)
}

/// Refuses calls by name, and others by what they are given.
fn arguments(situation: Situation) -> Result<BpfProgram, BackendError> {
    let refused = REFUSED.iter().chain(REFUSED_ON_OLD_PROCESSORS);
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = refused.map(|call| (*call, Vec::new())).collect();
    rules.insert(libc::SYS_clone, odd_clones()?);
    rules.insert(libc::SYS_socketpair, odd_pairs()?);
    rules.insert(libc::SYS_fcntl, vec![none_of(1, FCNTL)?]);
    rules.insert(libc::SYS_ioctl, vec![none_of(1, IOCTL)?]);
    rules.insert(libc::SYS_prctl, vec![none_of(0, PRCTL)?]);
    rules.insert(libc::SYS_personality, vec![none_of(0, &[PERSONALITY_QUERY])?]);
    // Limits and priorities of its own are its own affair; those of others are not.
    rules.insert(libc::SYS_prlimit64, vec![none_of(0, &[0])?]);
    rules.insert(libc::SYS_setpriority, vec![none_of(0, &[0])?, none_of(1, &[0])?]);
    if situation.has_network {
        rules.insert(libc::SYS_socket, vec![none_of(0, FAMILIES)?]);
    } else {
        rules.extend(SOCKETS.iter().map(|call| (*call, Vec::new())));
    }
    if situation.is_root {
        rules.extend(METADATA.iter().map(|call| (*call, Vec::new())));
    }
    if situation.can_cut {
        rules.insert(libc::SYS_truncate, Vec::new());
        rules.insert(libc::SYS_openat2, Vec::new());
        rules.insert(libc::SYS_openat, vec![cuts_without_writing(2)?]);
        #[cfg(target_arch = "x86_64")]
        rules.insert(libc::SYS_open, vec![cuts_without_writing(1)?]);
    }
    filter(rules, SeccompAction::Allow, SeccompAction::Errno(libc::EPERM.unsigned_abs()))
}

fn filter(
    rules: BTreeMap<i64, Vec<SeccompRule>>,
    otherwise: SeccompAction,
    matched: SeccompAction,
) -> Result<BpfProgram, BackendError> {
    SeccompFilter::new(rules, otherwise, matched, std::env::consts::ARCH.try_into()?)?.try_into()
}

/// That an argument is none of these values.
fn none_of(argument: u8, values: &[u32]) -> Result<SeccompRule, BackendError> {
    let is_not = |value: &u32| {
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, u64::from(*value))
    };
    SeccompRule::new(values.iter().map(is_not).collect::<Result<_, _>>()?)
}

/// That an argument has these bits, of those in `mask`.
fn has_bits(argument: u8, mask: i32, bits: i32) -> Result<SeccompRule, BackendError> {
    let (mask, bits) = (u64::from(mask.cast_unsigned()), u64::from(bits.cast_unsigned()));
    let has = SeccompCmpOp::MaskedEq(mask);
    SeccompRule::new(vec![SeccompCondition::new(argument, SeccompCmpArgLen::Dword, has, bits)?])
}

/// A new process in a namespace of its own, and a thread with descriptors of its own, which the watch would not see. `clone3`,
/// whose flags a filter cannot see, is not known at all.
fn odd_clones() -> Result<Vec<SeccompRule>, BackendError> {
    const FLAGS: [i32; 7] = [
        libc::CLONE_NEWNS,
        libc::CLONE_NEWCGROUP,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNET,
    ];
    let hidden = has_bits(0, libc::CLONE_THREAD | libc::CLONE_FILES, libc::CLONE_THREAD);
    FLAGS.into_iter().map(|flag| has_bits(0, flag, flag)).chain([hidden]).collect()
}

/// A pair of sockets that is no pair of streams: one of a pair for datagrams can send to any address.
fn odd_pairs() -> Result<Vec<SeccompRule>, BackendError> {
    /// The bits of a kind of socket that are not flags.
    const KIND: i32 = 0xf;
    let kinds = [libc::SOCK_DGRAM, libc::SOCK_RAW, libc::SOCK_RDM, libc::SOCK_SEQPACKET, libc::SOCK_DCCP];
    let kinds = kinds.into_iter().map(|kind| has_bits(1, KIND, kind));
    kinds.chain([none_of(0, &[libc::AF_UNIX as u32])]).collect()
}

/// A file that is opened to be read and cut short at the same time.
fn cuts_without_writing(argument: u8) -> Result<SeccompRule, BackendError> {
    has_bits(argument, libc::O_TRUNC | libc::O_ACCMODE, libc::O_TRUNC | libc::O_RDONLY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn filters_can_be_made_for_this_processor_in_every_situation() {
        for bits in 0..8 {
            let situation =
                Situation { has_network: bits & 1 > 0, is_root: bits & 2 > 0, can_cut: bits & 4 > 0 };
            assert!(filters(situation).unwrap().iter().all(|filter| !filter.is_empty()), "{situation:?}");
        }
    }

    #[test]
    fn no_call_is_allowed_and_refused() {
        let allowed: BTreeSet<i64> =
            ALLOWED.iter().chain(ALLOWED_ON_OLD_PROCESSORS).chain(JUDGED).copied().collect();
        for call in REFUSED.iter().chain(SOCKETS).chain(METADATA) {
            assert!(!allowed.contains(call), "{call}");
        }
        assert!(!allowed.contains(&libc::SYS_clone3) && !REFUSED.contains(&libc::SYS_clone3));
    }
}

//! Who a program is: a user of its own where root runs it, and without any capability in any case.
//!
//! **Invariant:** after [`drop_capabilities`] neither this process nor one that it starts has or gets a capability.

use rustix::fs::{Mode, chown};
use rustix::io::Errno;
use rustix::process::{Gid, Uid, geteuid, umask};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs, set_thread_groups,
    set_thread_res_gid, set_thread_res_uid,
};
use std::path::Path;

/// The user of the programs of a worker is this number and the worker's process id: no other process has it, so that the kernel
/// counts the processes of each worker apart. It lies where no distribution gives numbers to users or containers.
const FIRST_USER: u32 = 1_900_000_000;
/// The group of all of them.
const GROUP: u32 = 1_900_000_000;
/// The user and the group `nobody`, for a container that has few numbers.
const NOBODY: u32 = 65_534;

/// Gives up the user and the groups of root, and gives `scratch` to the new user. Says whether it could.
pub(super) fn leave_root(worker: u32, scratch: Option<&Path>) -> Result<bool, Errno> {
    if !geteuid().is_root() {
        return Ok(false);
    }
    leave_groups()?;
    for (user, group) in [(FIRST_USER.saturating_add(worker), GROUP), (NOBODY, NOBODY)] {
        match become_user(Uid::from_raw(user), Gid::from_raw(group), scratch) {
            Ok(()) => {
                share_with_group();
                return Ok(true);
            }
            // The number does not exist in this container, or root may not become another user there.
            Err(Errno::INVAL | Errno::PERM) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(false)
}

/// Gives up the supplementary groups, where that is allowed.
pub(super) fn leave_groups() -> Result<(), Errno> {
    match set_thread_groups(&[]) {
        Err(Errno::PERM) => Ok(()),
        left => left,
    }
}

/// Lets the programs of all workers write to each other's files, where they may write at all: their group is the same.
fn share_with_group() {
    let mask = umask(Mode::empty());
    umask(mask & !Mode::RWXG);
}

fn become_user(user: Uid, group: Gid, scratch: Option<&Path>) -> Result<(), Errno> {
    set_thread_res_gid(group, group, group)?;
    scratch.map_or(Ok(()), |scratch| chown(scratch, Some(user), Some(group)))?;
    set_thread_res_uid(user, user, user)
}

/// Empties the set of capabilities that a program file could bring, where this process may.
pub(super) fn empty_bounding_set() -> Result<(), Errno> {
    for number in 0..u64::BITS {
        match remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(1 << number)) {
            Ok(()) => {}
            // The kernel has no more; or this process may not, and `no_new_privs` must do.
            Err(Errno::INVAL | Errno::PERM) => break,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Gives up all capabilities for good.
pub(super) fn drop_capabilities() -> Result<(), Errno> {
    set_no_new_privs(true)?;
    let none = CapabilitySet::empty();
    match clear_ambient_capability_set() {
        Ok(()) | Err(Errno::INVAL) => {}
        Err(error) => return Err(error),
    }
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    let left = capabilities(None)?;
    if (left.effective | left.permitted | left.inheritable).is_empty() { Ok(()) } else { Err(Errno::PERM) }
}

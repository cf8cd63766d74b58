//! A network of the test's own, in which every address of both families leads to this machine.
//!
//! No packet of it leaves: it has no interface but `lo`. A listener on all addresses accepts every connection, and the
//! local address of the connection is the one that was meant.

use std::process::Command;

/// The variable that marks a test that runs inside.
const INSIDE: &str = "UTSUSHI_NETWORK_OF_ITS_OWN";
/// The exit code of the script if no such network can be made.
const NO_NETWORK: i32 = 77;
/// Every address is local. The names of the programs are looked for where administrators have them.
const SCRIPT: &str = "PATH=$PATH:/usr/sbin:/sbin
    ip link set lo up && ip route add local 0.0.0.0/0 dev lo && ip -6 route add local ::/0 dev lo || exit 77
    exec \"$0\" \"$@\"";

/// Runs `inside` in a network of its own: runs this very test again there, which then comes here once more.
#[track_caller]
pub(crate) fn run(test: &str, inside: impl FnOnce() -> Vec<String>) {
    if std::env::var_os(INSIDE).is_some() {
        inside().iter().for_each(|line| say(line));
        return;
    }
    // An ordinary user may be root in a user namespace.
    let told = once_more(test, &["--net"]).or_else(|_| once_more(test, &["--map-root-user", "--net"]));
    match told {
        Ok(told) => told.lines().for_each(say),
        Err(why) => {
            say(&format!("NOT TESTED: forbidden addresses, because no network can be made here: {why}"));
        }
    }
}

/// Runs a test in a network that is made so, which fails the test here if it fails there; an error when none can be made.
#[track_caller]
fn once_more(test: &str, how: &[&str]) -> Result<String, String> {
    let mut unshare = Command::new("unshare");
    unshare.args(how).args(["sh", "-c", SCRIPT]).arg(std::env::current_exe().unwrap());
    unshare.args([test, "--exact", "--nocapture", "--test-threads=1"]).env(INSIDE, "1");
    let ended = unshare.output().map_err(|error| format!("`unshare`: {error}"))?;
    let (out, told) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    if ended.status.code() == Some(NO_NETWORK) || told.starts_with("unshare: ") {
        return Err(told.into_owned());
    }
    assert!(ended.status.success(), "{out}\n{told}");
    assert!(out.contains("1 passed"), "`{test}` is the name of this test: {out}");
    Ok(told.into_owned())
}

/// Not by `eprintln!`, whose output is shown only for failed tests.
fn say(line: &str) {
    std::io::Write::write_all(&mut std::io::stderr(), format!("{line}\n").as_bytes()).unwrap();
}

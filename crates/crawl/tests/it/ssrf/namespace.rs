//! A network of the test's own, in which every address of both families leads to this machine.
//!
//! No packet of it leaves: it has no interface but `lo`. A listener on all addresses hears whoever connects anywhere,
//! and its side of the connection tells which address was meant.

use std::process::Command;

/// What tells a test that it runs inside.
const INSIDE: &str = "UTSUSHI_NETWORK_OF_ITS_OWN";
/// What the script ends with when there is no such network to be had.
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
    let mut unshare = Command::new("unshare");
    unshare.args(["--net", "sh", "-c", SCRIPT]).arg(std::env::current_exe().unwrap());
    unshare.args([test, "--exact", "--nocapture", "--test-threads=1"]).env(INSIDE, "1");
    let Ok(ended) = unshare.output() else {
        say("NOT TESTED: forbidden addresses, for `unshare` is not installed here");
        return;
    };
    let (out, told) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    if ended.status.code() == Some(NO_NETWORK) || told.starts_with("unshare: ") {
        say(&format!("NOT TESTED: forbidden addresses, for no network can be made here: {told}"));
        return;
    }
    assert!(ended.status.success(), "{out}\n{told}");
    assert!(out.contains("1 passed"), "`{test}` is the name of this test: {out}");
    told.lines().for_each(say);
}

/// Not by `eprintln!`, which is heard only from tests that fail.
fn say(line: &str) {
    std::io::Write::write_all(&mut std::io::stderr(), format!("{line}\n").as_bytes()).unwrap();
}

//! What a program may do and what it may not. The attempts are made by this test program, run as the analysis.

use super::rig::{Rig, command_of, none_left, pages};
use crate::program::run;
use rustix::fs::{MemfdFlags, OFlags, memfd_create};
use rustix::process::{Pid, test_kill_process};
use std::collections::BTreeMap;
use std::env;
use std::ffi::{CString, c_char, c_int};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::Path;
use std::process::Command;

/// Where the attempts are made: a directory that is not the program's own.
const OUTSIDE: &str = "UTSUSHI_SCAN_OUTSIDE";
/// Whom to connect to.
const LISTENER: &str = "UTSUSHI_SCAN_LISTENER";
/// The test below that is the analysis.
const INSIDE: &str = "scan::sandbox::inside_a_scan_everything_is_tried";

#[expect(unsafe_code, reason = "no safe interface has this call, which the sandbox must know")]
unsafe extern "C" {
    fn truncate(path: *const c_char, length: i64) -> c_int;
}

#[expect(unsafe_code, reason = "the same")]
fn cut(path: &Path) -> io::Result<()> {
    let path = CString::new(path.to_str().unwrap()).unwrap();
    // SAFETY: the path is a text that ends with a zero byte.
    let cut = unsafe { truncate(path.as_ptr(), 0) };
    if cut == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Tries everything that a program could try, and prints the results. Without a directory it does nothing.
#[test]
fn inside_a_scan_everything_is_tried() {
    let (Some(outside), Ok(listener)) = (env::var_os(OUTSIDE), env::var(LISTENER)) else { return };
    let tried = |what: &str, result: io::Result<()>| match result {
        Ok(()) => println!("\ntried {what}=done"),
        Err(error) => println!("\ntried {what}={error}"),
    };
    let outside = Path::new(&outside);
    tried("tcp", TcpStream::connect(&listener).map(drop));
    tried("listen", TcpListener::bind("127.0.0.1:0").map(drop));
    tried("udp", UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.send_to(b"x", &listener)).map(drop));
    tried("unix", UnixStream::connect(outside.join("socket")).map(drop));
    tried("datagram", UnixDatagram::unbound().map(drop));
    // One of a pair is connected, and can write to anyone all the same.
    let pair = UnixDatagram::pair().and_then(|(one, _)| one.send_to(b"x", outside.join("letters")));
    tried("datagram of a pair", pair.map(drop));
    tried("stream of a pair", UnixStream::pair().map(drop));
    tried("memory file", memfd_create("x", MemfdFlags::empty()).map(drop).map_err(Into::into));
    for (name, scratch) in [("outside", outside), ("inside", &env::temp_dir())] {
        files(scratch, |what, result| tried(&format!("{name} {what}"), result));
    }
    let linked = env::temp_dir().join("linked");
    let link = fs::hard_link(outside.join("existing"), &linked);
    tried("write by a link", link.and_then(|()| fs::write(linked, "x")));
    tried("null", fs::write("/dev/null", "x"));
    for (name, pid) in ancestors() {
        tried(&format!("signal to {name}"), test_kill_process(pid).map_err(Into::into));
    }
    println!("\ntried open files={}", open_files().join(", "));
    println!("\ntried scratch={}", env::temp_dir().display());
}

/// Every way to write in a directory.
fn files(directory: &Path, tried: impl Fn(&str, io::Result<()>)) {
    let (new, existing) = (directory.join("new"), directory.join("existing"));
    tried("new", File::create_new(&new).map(drop));
    tried("mkdir", fs::create_dir(directory.join("made")));
    tried("symlink", std::os::unix::fs::symlink("/", directory.join("symlink")));
    let _ = fs::write(&existing, "it was here");
    let open = |how: &mut OpenOptions| how.open(&existing).map(drop);
    tried("append", open(OpenOptions::new().append(true)));
    tried("truncated open", open(OpenOptions::new().write(true).truncate(true)));
    let flags = i32::try_from(OFlags::TRUNC.bits()).unwrap();
    tried("truncated open to read", open(OpenOptions::new().read(true).custom_flags(flags)));
    tried("truncate", cut(&existing));
    tried("rename", fs::rename(&existing, directory.join("renamed")));
    let _ = fs::rename(directory.join("renamed"), &existing);
    tried("read", fs::read(&existing).map(drop));
    tried("remove", fs::remove_file(&existing));
}

/// Open descriptors beside the three standard ones.
fn open_files() -> Vec<String> {
    let found = fs::read_dir("/proc/self/fd").unwrap().filter_map(|entry| {
        let entry = entry.unwrap();
        let is_more = entry.file_name().to_str()?.parse::<u32>().ok()? > 2;
        let path = fs::read_link(entry.path()).ok()?.display().to_string();
        // That by which they are found is one too.
        (is_more && !path.ends_with("/fd")).then_some(path)
    });
    found.collect()
}

/// The processes above this one up to the dispatcher, by their roles.
fn ancestors() -> BTreeMap<String, Pid> {
    let parent = |pid: Pid| {
        let status = fs::read_to_string(format!("/proc/{}/status", pid.as_raw_nonzero())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().to_owned();
        Pid::from_raw(line.parse().ok()?)
    };
    let (mut found, mut pid) = (BTreeMap::new(), rustix::process::getpid());
    while let Some(above) = parent(pid) {
        let command = command_of(above);
        let role = ["scan-each", "scan-worker", " scan "].into_iter().find(|role| command.contains(role));
        let Some(role) = role else { break };
        found.insert(role.trim().to_owned(), above);
        pid = above;
    }
    found
}

/// What came of each attempt, with some flags.
fn attempts(rig: &Rig, flags: &[&str]) -> BTreeMap<String, String> {
    let outside = rig.path("outside");
    let _ = fs::remove_dir_all(&outside);
    rig.directory("outside");
    fs::write(outside.join("existing"), "it was here").unwrap();
    fs::set_permissions(outside.join("existing"), fs::Permissions::from_mode(0o666)).unwrap();
    let unix = UnixListener::bind(outside.join("socket")).unwrap();
    let letters = UnixDatagram::bind(outside.join("letters")).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let this = env::current_exe().unwrap();
    let analysis = ["--each", "--", this.to_str().unwrap(), INSIDE, "--exact", "--nocapture"];
    let command = rig.scan(&[flags, &analysis].concat());
    // The caller of a scan may have left a file open by mistake.
    let mut careless = Command::new("sh");
    careless.args(["-c", r#"exec "$@" 7>"$0""#]).arg(outside.join("open")).arg(command.get_program());
    careless
        .args(command.get_args())
        .envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    careless.env(OUTSIDE, &outside).env(LISTENER, listener.local_addr().unwrap().to_string());
    let results = super::rig::results(&run(&mut careless).done());
    none_left(&rig.mark);
    drop((unix, letters, listener));
    let said = results.values().next().unwrap().as_str().unwrap();
    let tried = said.lines().filter_map(|line| line.strip_prefix("tried ")?.split_once('='));
    tried.map(|(what, result)| (what.to_owned(), result.to_owned())).collect()
}

/// Which attempts came to what they should not, or not to what they should.
fn refused(attempts: &BTreeMap<String, String>) -> Vec<&str> {
    let told = ["open files", "scratch"];
    let failed = attempts.iter().filter(|(what, result)| !told.contains(&what.as_str()) && *result != "done");
    failed.map(|(what, _)| what.as_str()).collect()
}

const NETWORK: &[&str] = &["listen", "tcp", "udp"];
/// Local sockets reach other processes, although they are not a network.
const LOCAL: &[&str] = &["datagram", "datagram of a pair", "unix"];
const OTHERS: &[&str] = &["memory file", "signal to scan", "signal to scan-worker"];
const WRITING: &[&str] = &[
    "outside append",
    "outside mkdir",
    "outside new",
    "outside remove",
    "outside rename",
    "outside symlink",
    "outside truncate",
    "outside truncated open",
    "outside truncated open to read",
    "write by a link",
];

#[track_caller]
fn check(rig: &Rig, flags: &[&str], expected: &[&[&str]]) -> BTreeMap<String, String> {
    let attempts = attempts(rig, flags);
    let mut expected = expected.concat();
    expected.sort_unstable();
    assert_eq!(refused(&attempts), expected, "{flags:?}: {attempts:#?}");
    let has_file = attempts["open files"].contains("/outside/open");
    assert_eq!(has_file, flags.contains(&"--unsandboxed"), "{attempts:#?}");
    assert!(has_file || attempts["open files"].is_empty(), "{attempts:#?}");
    let scratch = Path::new(&attempts["scratch"]);
    assert!(scratch.components().count() > 2 && !scratch.exists(), "{}", scratch.display());
    assert_eq!(rig.kept(), Vec::<std::path::PathBuf>::new(), "nothing is left of the scratch directories");
    attempts
}

#[test]
fn a_program_writes_to_its_scratch_directory_and_reaches_nobody() {
    let rig = pages(1).import();
    check(&rig, &[], &[NETWORK, LOCAL, OTHERS, WRITING]);
    let existing = rig.path("outside").join("existing");
    assert_eq!(fs::read_to_string(existing).unwrap(), "it was here");
    assert_eq!(fs::read_dir(rig.path("outside")).unwrap().count(), 4, "nothing came to what was there");
}

#[test]
fn every_leave_lifts_what_it_says_and_nothing_else() {
    let rig = pages(1).import();
    let outside = rig.directory("outside");
    check(&rig, &["--allow-network"], &[LOCAL, OTHERS, WRITING]);
    // A file is not linked into another directory: what may be written there is not what may be written here.
    check(&rig, &["--allow-write", &outside], &[NETWORK, LOCAL, OTHERS, &["write by a link"]]);
    check(&rig, &["--unsandboxed"], &[&["write by a link"]]);
}

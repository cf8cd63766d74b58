//! What a program has no right to, tried by a program in Python as root, as another user, and without the sandbox.

use super::rig::{Corpus, DAY, Rig, none_left, pages, results, url};
use crate::program::{not_tested, run, utsushi};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{self, Child, Command, Stdio};

const PROBE: &str = include_str!("probe.py");
const PYTHON: &str = "/usr/bin/python3";
/// The user that stands for anyone but root, and its group.
const USER: u32 = 54_321;

/// What a program must not be able to do, whoever runs it.
const FORBIDDEN: &[&str] = &[
    "FIFREEZE",
    "FS_IOC_SHUTDOWN",
    "adjtimex",
    "bpf",
    "chmod",
    "chown",
    "clone into a new mount namespace",
    "clone into a new network namespace",
    "clone into a new pid namespace",
    "clone into a new user namespace",
    "descriptor sent away",
    "fanotify_init",
    "flock",
    "inotify_init1",
    "io_uring_setup",
    "keyctl",
    "kill",
    "larger buffer of a socket",
    "larger pipe",
    "memfd_create",
    "mount_setattr",
    "mq_open",
    "msgget",
    "pair of datagram sockets",
    "perf_event_open",
    "prlimit",
    "ptrace",
    "sched_setaffinity",
    "sched_setscheduler",
    "semget",
    "setcap",
    "setgroups",
    "setns",
    "setpriority",
    "setuid",
    "shmget",
    "socket",
    "unix socket",
    "unshare",
    "userfaultfd",
    "utime",
];

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Whether all that these tests need is here; says what is not.
fn can_probe(what: &str) -> bool {
    let can = is_root() && Path::new(PYTHON).exists();
    if !can {
        not_tested(&format!("{what}, for this is not root or there is no `{PYTHON}`"));
    }
    can
}

/// A small separate disk, so that shutting it down affects nothing else.
struct Disk {
    mounted: Option<PathBuf>,
}

impl Disk {
    fn mount(rig: &Rig) -> Self {
        let (image, place) = (rig.path("image"), rig.path("disk"));
        fs::File::create(&image).unwrap().set_len(16 << 20).unwrap();
        fs::create_dir(&place).unwrap();
        let is_done = |command: &mut Command| {
            command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
        };
        let is_mounted = is_done(Command::new("mkfs.ext4").arg("-q").arg(&image))
            && is_done(Command::new("mount").args(["-o", "loop"]).arg(&image).arg(&place));
        if !is_mounted {
            not_tested("what a program can do to a file system, for no small disk can be mounted here");
        }
        Self { mounted: is_mounted.then_some(place) }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        if let Some(place) = &self.mounted {
            let _ = Command::new("umount").arg(place).status();
        }
    }
}

/// An unneeded process.
struct Target(Child);

impl Target {
    fn start() -> Self {
        Self(Command::new("sleep").arg("10000").spawn().unwrap())
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// What came of each attempt, and what the program is.
struct Probed {
    tried: BTreeMap<String, String>,
    about: Value,
    notes: String,
}

impl Probed {
    fn not_done(&self) -> Vec<&str> {
        self.tried.iter().filter(|(_, came)| *came != "done").map(|(what, _)| what.as_str()).collect()
    }
    fn is(&self, name: &str, expected: &[&str]) {
        assert_eq!(self.about[name], serde_json::json!(expected), "{name}: {}", self.about);
    }
    /// No attempt succeeded, and there are no capabilities.
    #[track_caller]
    fn is_confined(&self, disk: &Disk) {
        let on_disk = ["FIFREEZE", "FS_IOC_SHUTDOWN", "mount_setattr"];
        for what in FORBIDDEN.iter().filter(|what| disk.mounted.is_some() || !on_disk.contains(what)) {
            let came = &self.tried[*what];
            assert!(["EPERM", "ENOSYS", "EACCES"].contains(&came.as_str()), "{what}: {came}");
        }
        assert_eq!(self.tried["clone3"], "ENOSYS", "glibc then takes `clone`");
        for set in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
            self.is(set, &["0000000000000000"]);
        }
        self.is("NoNewPrivs", &["1"]);
        self.is("Seccomp", &["2"]);
        assert_eq!(self.about["files"], 256);
    }
}

/// Runs the probe in a scan that `scan` makes of its arguments.
fn probe(rig: &Rig, disk: &Disk, scan: impl Fn(&[&str]) -> Command, flags: &[&str]) -> Probed {
    let target = Target::start();
    let outside = rig.path("outside");
    let _ = fs::remove_dir_all(&outside);
    rig.directory("outside");
    fs::write(outside.join("file"), "it was here").unwrap();
    let before = fs::metadata(outside.join("file")).unwrap();
    let script = rig.script("probe.py", PROBE);
    let mut command = scan(&[flags, &["--each", "--", PYTHON, &script]].concat());
    command.env("PROBE_OUTSIDE", &outside).env("PROBE_TARGET", target.0.id().to_string());
    disk.mounted.iter().for_each(|disk| {
        command.env("PROBE_DISK", disk);
    });
    let ended = run(&mut command);
    let (notes, said) = (ended.stderr.clone(), results(&ended.done()));
    none_left(&rig.mark);
    if !flags.contains(&"--unsandboxed") {
        let after = fs::metadata(outside.join("file")).unwrap();
        let about = |file: &fs::Metadata| (file.uid(), file.mode(), file.mtime());
        assert_eq!(about(&after), about(&before), "nothing came to the file");
    }
    let said: Value = serde_json::from_str(said[&url(0)].as_str().unwrap()).unwrap();
    Probed {
        tried: serde_json::from_value(said["tried"].clone()).unwrap(),
        about: said["about"].clone(),
        notes,
    }
}

#[test]
fn a_program_that_root_runs_has_no_rights_of_root() {
    if !can_probe("the rights of a program that root runs") {
        return;
    }
    let rig = pages(1).import();
    let disk = Disk::mount(&rig);
    let probed = probe(&rig, &disk, |flags| rig.scan(flags), &[]);
    probed.is_confined(&disk);
    probed.is("CapBnd", &["0000000000000000"]);
    probed.is("Groups", &[]);
    let user: u32 = probed.about["Uid"][0].as_str().unwrap().parse().unwrap();
    assert!(user >= 1_900_000_000 || user == 65_534, "{}", probed.about);
    assert!(!probed.notes.contains("runs as root"), "{}", probed.notes);
}

#[test]
fn without_the_sandbox_the_same_attempts_succeed() {
    if !can_probe("that the attempts would succeed") {
        return;
    }
    let rig = pages(1).import();
    let disk = Disk::mount(&rig);
    let probed = probe(&rig, &disk, |flags| rig.scan(flags), &["--unsandboxed"]);
    // What a kernel lacks fails in any case; what the issue is about must not.
    let lacking: Vec<&str> = probed.not_done().into_iter().filter(|what| *what != "clone3").collect();
    if !lacking.is_empty() {
        not_tested(&format!("that the sandbox refuses {lacking:?}, for this system refuses it anyway"));
    }
    assert!(lacking.len() <= 5, "{:?}", probed.tried);
    for what in
        ["setuid", "chown", "chmod", "descriptor sent away", "flock", "kill", "setpriority", "larger pipe"]
    {
        assert_eq!(probed.tried[what], "done", "{what}");
    }
}

#[test]
fn a_program_that_only_root_can_reach_keeps_the_user_and_nothing_else() {
    if !can_probe("a program that only root can reach") {
        return;
    }
    let rig = pages(1).import();
    let disk = Disk::mount(&rig);
    fs::set_permissions(rig.path("."), fs::Permissions::from_mode(0o700)).unwrap();
    let probed = probe(&rig, &disk, |flags| rig.scan(flags), &[]);
    probed.is_confined(&disk);
    probed.is("Uid", &["0"; 4]);
    let script = rig.text("probe.py");
    for part in [script.as_str(), "runs as root, without capabilities", "Give all users access"] {
        assert!(probed.notes.contains(part), "`{part}` is not in {}", probed.notes);
    }
}

#[test]
fn what_root_cannot_reach_without_its_rights_is_named() {
    if !is_root() {
        not_tested("what root cannot reach without its rights, for this is not root");
        return;
    }
    let rig = pages(1).import();
    let script = rig.script("theirs.py", "");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::chown(&script, Some(USER), Some(USER)).unwrap();
    rig.ended(&["--each", "--", "cat", &script]).could_not(&["without the rights of root", &script, "chmod"]);
}

/// A scan by an ordinary user.
fn as_user(rig: &Rig, arguments: &[&str]) -> Command {
    let scan = rig.scan(arguments);
    let mut command = Command::new("setpriv");
    let ids = [format!("--reuid={USER}"), format!("--regid={USER}"), "--clear-groups".to_owned()];
    command.args(ids).arg(utsushi().get_program()).args(scan.get_args());
    command.envs(scan.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.stdin(Stdio::null()).current_dir("/");
    command
}

/// Gives all of an archive to the other user.
fn give_away(rig: &Rig) {
    let status =
        Command::new("chown").arg("-R").arg(format!("{USER}:{USER}")).arg(rig.path(".")).status().unwrap();
    assert!(status.success());
}

#[test]
fn a_program_of_another_user_has_no_more_rights() {
    if !can_probe("the rights of a program that another user runs") {
        return;
    }
    let rig = pages(1).import();
    let disk = Disk::mount(&rig);
    give_away(&rig);
    let probed = probe(&rig, &disk, |flags| as_user(&rig, flags), &[]);
    probed.is_confined(&disk);
    let user = USER.to_string();
    probed.is("Uid", &[user.as_str(); 4]);
}

/// Starts processes until it cannot, and notes how many there were.
const BOMB: &str = r#"
import os, sys, time
count = 1
while True:
    open(os.environ["NOTES"] + "/" + str(count), "w").close()
    try:
        child = os.fork()
    except OSError:
        break
    if child == 0:
        time.sleep(10000)
    count += 1
    if count > 2000:
        break
time.sleep(10000)
"#;

/// The most processes that the bomb was, and what became of its document.
fn bomb(rig: &Rig, scan: impl Fn(&[&str]) -> Command) -> (usize, Value) {
    let (notes, script) = (rig.directory("notes"), rig.script("bomb.py", BOMB));
    let program = format!("read -r word; [ \"$word\" = fine ] || exec {PYTHON} {script}; echo fine");
    let limits = ["--strikes", "1", "--progress-limit", "5s"];
    let flags = [&limits[..], &["--allow-write", &notes, "--each", "--", "sh", "-c", &program]].concat();
    let mut command = scan(&flags);
    let ended = run(command.env("NOTES", &notes));
    assert_eq!(results(&ended.found(&["1 document quarantined"])).len(), 1);
    none_left(&rig.mark);
    (fs::read_dir(&notes).unwrap().count(), rig.set_aside().remove(0).1)
}

fn bombs() -> Rig {
    let mut corpus = Corpus::new();
    corpus.page(&url(0), DAY, "fine\n").page(&url(1), DAY, "bomb\n");
    corpus.import()
}

#[test]
fn a_program_is_never_more_processes_than_it_may_be() {
    if !can_probe("a bound on processes") {
        return;
    }
    let rig = bombs();
    let (count, about) = bomb(&rig, |flags| rig.scan(flags));
    assert!((10..=64).contains(&count), "{count}: {about}");
    let rig = bombs();
    give_away(&rig);
    let (count, about) = bomb(&rig, |flags| as_user(&rig, flags));
    assert!((10..=64).contains(&count), "{count}: {about}");
}

/// Holds as much in pipes or pairs of sockets as it can, with all the processes that it can be.
const HOARD: &str = r#"
import os, socket, sys, time
def ends():
    if sys.argv[1] == "pipes":
        return os.pipe()
    return [end.detach() for end in socket.socketpair()]
def fill(note):
    held = 0
    try:
        while True:
            for end in ends():
                os.set_blocking(end, False)
                try:
                    while True:
                        held += os.write(end, b"x" * 65536)
                except OSError:
                    pass
            os.pwrite(note, str(held).encode(), 0)
    except OSError:
        pass
for number in range(50):
    try:
        if os.fork() == 0:
            break
    except OSError:
        break
fill(os.open(os.environ["NOTES"] + "/" + str(os.getpid()), os.O_WRONLY | os.O_CREAT))
time.sleep(2)
"#;

/// How many bytes the kernel held for a program that may take 64 MiB.
fn hoard(rig: &Rig, what: &str, scan: impl Fn(&[&str]) -> Command) -> u64 {
    let (notes, script) = (rig.directory(what), rig.script("hoard.py", HOARD));
    let limits = ["--memory", "64MiB", "--strikes", "1", "--progress-limit", "10s"];
    let flags = [&limits[..], &["--allow-write", &notes, "--each", "--", PYTHON, &script, what]].concat();
    run(scan(&flags).env("NOTES", &notes));
    none_left(&rig.mark);
    let held = fs::read_dir(&notes).unwrap().map(|file| {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        text.parse::<u64>().unwrap_or(0)
    });
    held.sum()
}

#[test]
fn memory_of_the_kernel_is_bounded_too() {
    if !can_probe("a bound on the memory of pipes and sockets") {
        return;
    }
    let rig = pages(1).import();
    let bytes_max = if has_memory_group() { 128 << 20 } else { WATCHED_BYTES_MAX };
    for what in ["pipes", "sockets"] {
        let held = hoard(&rig, what, |flags| rig.scan(flags));
        println!("root: {} MiB in {what}", held >> 20);
        assert!(held < bytes_max, "{what}: {held}");
    }
    let rig = pages(1).import();
    give_away(&rig);
    for what in ["pipes", "sockets"] {
        let held = hoard(&rig, what, |flags| as_user(&rig, flags));
        println!("another user: {} MiB in {what}", held >> 20);
        assert!(held < WATCHED_BYTES_MAX, "{what}: {held}");
    }
}

/// A program without a control group is watched: what it takes between two checks depends on how busy the machine is. All
/// its processes together could fill 2.6 GiB.
const WATCHED_BYTES_MAX: u64 = 2 << 30;

/// Whether a control group for memory can be created below our own, as a scan does.
fn has_memory_group() -> bool {
    let own = fs::read_to_string("/proc/self/cgroup").unwrap();
    let place = |line: &str| {
        let (names, path) = line.split_once(':')?.1.split_once(':')?;
        let root = match names {
            "" => "/sys/fs/cgroup",
            "memory" => "/sys/fs/cgroup/memory",
            _ => return None,
        };
        Some(
            Path::new(root)
                .join(path.trim_start_matches('/'))
                .join(format!("utsushi-test-{}", process::id())),
        )
    };
    let is_usable = |group: PathBuf| {
        let limits = ["memory.max", "memory.limit_in_bytes"].map(|name| group.join(name));
        let is_made = fs::create_dir(&group).is_ok() && limits.iter().any(|limit| limit.exists());
        let _ = fs::remove_dir(&group);
        is_made
    };
    own.lines().filter_map(place).any(is_usable)
}

const IN_PYTHON: &str = r"
import json, sys, threading, subprocess
given = sys.stdin.buffer
while line := given.readline():
    body = given.read(json.loads(line)['length'])
    said = []
    thread = threading.Thread(target=lambda: said.append(subprocess.run(['cat'], input=body, capture_output=True).stdout))
    thread.start()
    thread.join()
    print(json.dumps(said[0].decode()), flush=True)
";
const IN_PERL: &str = r#"
$| = 1;
while (my $line = <STDIN>) {
    my ($length) = $line =~ /"length":(\d+)\}$/;
    read(STDIN, my $body, $length);
    my $said = `printf '%s' '$body'`;
    print "=", length($said), "\n", $said;
}
"#;
const IN_JAVASCRIPT: &str = r#"
let buffer = Buffer.alloc(0);
process.stdin.on("data", (piece) => {
  buffer = Buffer.concat([buffer, piece]);
  for (;;) {
    const end = buffer.indexOf(10);
    if (end < 0) return;
    const length = JSON.parse(buffer.subarray(0, end)).length;
    if (buffer.length < end + 1 + length) return;
    const body = buffer.subarray(end + 1, end + 1 + length);
    require("fs").writeFileSync(process.env.TMPDIR + "/x", body);
    process.stdout.write(JSON.stringify(require("fs").readFileSync(process.env.TMPDIR + "/x", "utf8")) + "\n");
    buffer = buffer.subarray(end + 1 + length);
  }
});
"#;
const IN_JAVA: &str = r#"
import java.io.*;
import java.util.regex.*;
public class Echo {
    public static void main(String[] words) throws Exception {
        DataInputStream given = new DataInputStream(new BufferedInputStream(System.in));
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int b; (b = given.read()) >= 0; ) {
            if (b != '\n') { line.write(b); continue; }
            Matcher length = Pattern.compile("\"length\":(\\d+)\\}$").matcher(line.toString("UTF-8"));
            length.find();
            byte[] body = new byte[Integer.parseInt(length.group(1))];
            given.readFully(body);
            java.util.stream.IntStream.range(0, 1000).parallel().sum();
            System.out.println("\"" + new String(body, "UTF-8") + "\"");
            System.out.flush();
            line.reset();
        }
    }
}
"#;

#[test]
fn programs_in_python_perl_javascript_and_java_run() {
    let rig = pages(20).import();
    let runtimes = [
        (PYTHON, "echo.py", IN_PYTHON),
        ("/usr/bin/perl", "echo.pl", IN_PERL),
        ("/usr/bin/node", "echo.js", IN_JAVASCRIPT),
        ("/usr/bin/java", "Echo.java", IN_JAVA),
    ];
    for (runtime, name, text) in runtimes {
        if !Path::new(runtime).exists() {
            not_tested(&format!("a program in the sandbox run by `{runtime}`, which is not there"));
            continue;
        }
        let script = rig.script(name, text);
        let found = rig.results(&["--", runtime, &script]);
        assert_eq!(found.len(), 20, "{runtime}");
        for number in 0..20 {
            assert_eq!(found[&url(number)], format!("page {number}"), "{runtime}");
        }
    }
    none_left(&rig.mark);
}

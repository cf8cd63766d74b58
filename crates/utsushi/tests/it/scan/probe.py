"""Tries what a program in the sandbox must not do, and says of each attempt `done` or the name of its error."""

import ctypes, errno, fcntl, json, os, platform, resource, socket, struct

libc = ctypes.CDLL(None, use_errno=True)
X86 = platform.machine() == "x86_64"
outside, target = os.environ["PROBE_OUTSIDE"], int(os.environ["PROBE_TARGET"])
told = {}


def tried(name, attempt):
    try:
        attempt()
        told[name] = "done"
    except OSError as error:
        told[name] = errno.errorcode.get(error.errno, str(error.errno))


def call(number, *arguments):
    """A system call by its number on this processor: (x86-64, others)."""
    result = libc.syscall(ctypes.c_long(number[0] if X86 else number[1]), *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), "")
    return result


def text(path):
    return ctypes.c_char_p(path.encode())


def zeros(length):
    return ctypes.create_string_buffer(length)


def in_child(attempt):
    """An attempt that would change this process is made by another one."""
    child = os.fork()
    if child == 0:
        try:
            attempt()
            os._exit(0)
        except OSError as error:
            os._exit(error.errno)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code != 0:
        raise OSError(code, "")


def clone(flags):
    child = call((56, 220), flags | 17, None, None, None, None)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def setcap():
    os.setxattr(outside + "/file", "security.capability", struct.pack("<5I", 0x02000001, 1 << 21, 0, 0, 0))


def lock(path):
    with open(path) as file:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)


def grow_pipe():
    reader, writer = os.pipe()
    fcntl.fcntl(writer, 1031, 1 << 20)


def grow_socket():
    here, there = socket.socketpair()
    here.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)


def send_descriptor():
    here, there = socket.socketpair()
    socket.send_fds(here, [b"x"], [0])


def adjust_clock():
    """Sets the estimated error of the clock to what it is."""
    about = zeros(256)
    call((159, 171), about)
    struct.pack_into("<I", about, 0, 8)
    call((159, 171), about)


def attach():
    """Whoever ends lets go."""
    call((101, 117), 0x4206, target, None, None)


def shut_down():
    directory = os.open(os.environ["PROBE_DISK"], os.O_RDONLY)
    fcntl.ioctl(directory, 0x8004587D, struct.pack("<I", 2))


def freeze():
    directory = os.open(os.environ["PROBE_DISK"], os.O_RDONLY)
    fcntl.ioctl(directory, 0xC0045877, 0)
    fcntl.ioctl(directory, 0xC0045878, 0)


tried("setuid", lambda: in_child(lambda: os.setuid(12345)))
tried("setgroups", lambda: in_child(lambda: os.setgroups([12345])))
tried("chown", lambda: os.chown(outside + "/file", 12345, 12345))
tried("chmod", lambda: os.chmod(outside + "/file", 0o4777))
tried("utime", lambda: os.utime(outside + "/file", (0, 0)))
tried("setcap", setcap)
tried("adjtimex", adjust_clock)
tried("fanotify_init", lambda: call((300, 262), 0, 0))
if "PROBE_DISK" in os.environ:
    disk = os.environ["PROBE_DISK"]
    attributes = ctypes.create_string_buffer(struct.pack("<4Q", 2, 0, 0, 0), 32)
    tried("mount_setattr", lambda: call((442, 442), -100, text(disk), 0, attributes, 32))
    tried("FIFREEZE", freeze)
    tried("FS_IOC_SHUTDOWN", shut_down)
tried("socket", lambda: call((41, 198), 2, 1, 0))
tried("unix socket", lambda: call((41, 198), 1, 1, 0))
tried("pair of datagram sockets", lambda: call((53, 199), 1, 2, 0, zeros(8)))
tried("larger buffer of a socket", grow_socket)
tried("descriptor sent away", send_descriptor)
tried("larger pipe", grow_pipe)
tried("memfd_create", lambda: call((319, 279), text("x"), 0))
tried("shmget", lambda: call((29, 194), 0, 4096, 0o1600))
tried("msgget", lambda: call((68, 186), 0, 0o1600))
tried("semget", lambda: call((64, 190), 0, 1, 0o1600))
tried("mq_open", lambda: call((240, 180), text("utsushi-probe"), 0o102, 0o600, None))
tried("bpf", lambda: call((321, 280), 0, ctypes.create_string_buffer(struct.pack("<4I", 2, 4, 4, 1), 128), 128))
tried("io_uring_setup", lambda: call((425, 425), 1, zeros(120)))
tried("userfaultfd", lambda: call((323, 282), 0))
tried("keyctl", lambda: call((250, 219), 0, -3, 0))
tried("perf_event_open", lambda: call((298, 241), ctypes.create_string_buffer(struct.pack("<2IQ", 1, 112, 0), 112), 0, -1, -1, 0))
tried("inotify_init1", lambda: call((294, 26), 0))
tried("flock", lambda: lock(outside + "/file"))
tried("setpriority", lambda: os.setpriority(os.PRIO_PROCESS, target, 5))
tried("sched_setscheduler", lambda: os.sched_setscheduler(target, os.SCHED_BATCH, os.sched_param(0)))
tried("sched_setaffinity", lambda: os.sched_setaffinity(target, os.sched_getaffinity(target)))
tried("kill", lambda: os.kill(target, 0))
tried("ptrace", lambda: in_child(attach))
tried("prlimit", lambda: resource.prlimit(target, resource.RLIMIT_CORE, (0, 0)))
for name, flag in [("user", 0x10000000), ("mount", 0x20000), ("network", 0x40000000), ("pid", 0x20000000)]:
    tried(f"clone into a new {name} namespace", lambda: clone(flag))
tried("unshare", lambda: in_child(lambda: call((272, 97), 0x20000)))
tried("setns", lambda: in_child(lambda: call((308, 268), os.open("/proc/self/ns/uts", os.O_RDONLY), 0)))
tried("clone3", lambda: call((435, 435), zeros(64), 1))

status = dict(line.split(":", 1) for line in open("/proc/self/status"))
names = ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp", "Groups", "Uid", "Gid"]
about = {name: status[name].split() for name in names}
about["files"] = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
with open(os.path.join(os.environ["TMPDIR"], "x"), "w") as file:
    os.fchmod(file.fileno(), 0o600) if os.getuid() else None
print(json.dumps({"tried": told, "about": about}))

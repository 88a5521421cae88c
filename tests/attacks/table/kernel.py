"""Attacks by calls of the kernel that a program for numbers never needs."""

from __future__ import annotations

from tests.attacks.attack import Attack, body

__all__ = ["ATTACKS"]


def _calls(name: str, tries: str, *steps: str, harm: str = "reaches the kernel", before: str = "") -> Attack:
    lines = "\n".join(f"attempt(lambda: {step}, harms={harm!r})" for step in steps)
    return Attack(name=name, tries=tries, source=body(f"{before}\n{lines}"))


ATTACKS = (
    _calls("user_namespace", "becomes root of its own", "syscall(272, 97, 0x10000000)"),
    _calls(
        "namespaces",
        "gets its own network, mounts and names",
        *(f"syscall(272, 97, {flag})" for flag in (0x20000, 0x40000000, 0x04000000, 0x08000000)),
    ),
    _calls(
        "mount",
        "mounts (a file system that doesn't exist, so that nothing happens)",
        "_mount()",
        before="""
def _mount():
    try:
        syscall(165, 40, b"none", b".", b"no-such-system", 0, 0)
    except OSError as error:
        return error.errno == 19  # ENODEV: it was let so far
""",
    ),
    _calls("chroot", "changes its root", "os.chroot('.')"),
    _calls(
        "bpf",
        "loads a program into the kernel",
        "syscall(321, 280, 0, ctypes.c_void_p(_map.ctypes.data), 72)",
        before="_map = np.array([2, 4, 4, 1] + [0] * 14, np.uint32)",
    ),
    _calls("keyring", "looks into keyrings", "syscall(250, 219, 0, -3, 1)", "syscall(250, 219, 6, -4, 0, 0)"),
    _calls("user_faults", "handles page faults itself", "syscall(323, 282, 1)", "syscall(323, 282, 0)"),
    _calls("io_ring", "does input and output by a ring", "syscall(425, 425, 1, ctypes.create_string_buffer(120))"),
    _calls(
        "perf", "measures others", r"syscall(298, 241, ctypes.create_string_buffer(b'\1\0\0\0\x70', 112), 0, -1, -1, 0)"
    ),
    _calls("trace_me", "lets itself be traced", "syscall(101, 117, 0, 0, 0, 0)"),
    _calls("personality", "switches the layout of addresses off", "syscall(135, 92, 0x0040000)"),
    _calls(
        "terminal",
        "types into the terminal",
        "fcntl.ioctl(0, 0x5412, b'r')",
        "fcntl.ioctl(1, 0x541C, b'\\x02')",
        "os.open('/dev/tty', os.O_RDWR)",
        before="import fcntl",
    ),
    _calls(
        "devices",
        "opens devices",
        *(f"open('/dev/{name}', 'rb').read(1)" for name in ("mem", "kmsg", "fuse", "kvm")),
        harm="opens devices",
    ),
    _calls("identity", "becomes somebody else", "os.setuid(12345)", "os.setgroups([0, 4])", "os.setresgid(0, 1, 2)"),
    _calls(
        "clock",
        "sets the clock to what it is",
        "time.clock_settime(time.CLOCK_REALTIME, time.time())",
        "syscall(159, 171, ctypes.create_string_buffer(b'\\1\\0\\0\\0', 208))",
        before="import time",
    ),
    _calls(
        "host_name",
        "names the machine as it is named",
        "socket.sethostname(socket.gethostname())",
        before="import socket",
    ),
    _calls("pin_memory", "pins memory", "syscall(151, 230, 3)"),
    _calls(
        "own_filter",
        "puts a filter of its own that lies to the worker",
        "_filter()",
        before="""
def _filter():
    import struct
    # Writing fails with the error "success" from now on.
    number = {"x86_64": 1, "aarch64": 64}[os.uname().machine]
    steps = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050000), (0x06, 0, 0, 0x7FFF0000)]
    code = b"".join(struct.pack("HBBI", *step) for step in steps)
    room = ctypes.create_string_buffer(code, len(code))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(room)), 16)
    syscall(157, 167, 38, 1, 0, 0, 0)
    syscall(157, 167, 22, 2, program)
    return False
""",
    ),
    _calls(
        "other_numbers",
        "uses the numbers of another interface of the kernel",
        "_other(39)",
        "_other(57)",
        before="""
def _other(number):
    if os.uname().machine != "x86_64":
        return False
    got = _libc.syscall(ctypes.c_long(0x40000000 + number))
    if got == 0 and number == 57:
        _libc._exit(0)
    return got > 0
""",
    ),
    _calls(
        "die_with_others",
        "asks for a signal when its parent dies, and for being a collector of orphans",
        "(syscall(157, 167, 36, 1, 0, 0, 0), False)[1]",
        "(syscall(157, 167, 4, 1, 0, 0, 0), False)[1]",
    ),
    _calls(
        "executable_memory",
        "makes memory executable and jumps into it",
        "_jump()",
        before="""
def _jump():
    import mmap
    room = mmap.mmap(-1, 4096, prot=7)
    room.write({"x86_64": b"\\xc3", "aarch64": b"\\xc0\\x03\\x5f\\xd6"}[os.uname().machine])
    ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(room)))()
    return False
""",
    ),
)

"""What the backend ``process`` doesn't promise to stop, by attack; docs/security.md says the same in words."""

from __future__ import annotations

__all__ = ["EVERYWHERE", "NOT_PROMISED"]

_READS = {"reads files", "tells a secret"}
_FORKS = {"forks"}
_KERNEL = {"reaches the kernel"}

_LISTED: dict[str, set[str]] = {
    # It runs with the rights of who grades, so it reads what they may read,
    "read_solution": _READS,
    "read_expected": _READS,
    "read_neighbour": _READS,
    "read_home": _READS,
    "read_grader": {"reads files"},
    "list_folders": {"reads files"},
    "read_by_dots": _READS,
    "read_by_handle": _READS,
    "read_by_hard_link": _READS,
    "read_by_numpy": _READS,
    "read_by_import": _READS,
    # changes what they may change,
    "write_results": {"changes files"},
    "write_by_links": {"changes files"},
    "delete": {"changes files"},
    "change_modes": {"changes files"},
    "change_modes_of_links": {"changes files"},
    "poison_packages": {"writes code"},
    "special_files": {"makes a device"},
    # leaves things where everybody may,
    "leave_messages": {"changes files", "finds a message", "leaves something"},
    "leave_in_kernel": {"leaves a key", "leaves something"},
    # ends, slows and looks into their processes,
    "signal_grader": {"may signal", "signals the grader"},
    "end_others": {"ends a process"},
    "end_by_handle": {"ends a process"},
    "stop_others": {"slows a process"},
    "signal_everybody": {"may signal"},
    "signal_by_owner": {"ends a process"},
    "slow_others": {"slows a process", "slows others", "changes the grader's process"},
    "limit_others": {"limits others", "slows a process", "changes the grader's process"},
    "trace_others": {"traces others"},
    "read_grader_memory": {"tells a secret"},
    "read_by_vm_call": {"reads memory"},
    "list_processes": {"sees processes"},
    # starts programs, which may outlive it,
    "daemon": {*_FORKS, "changes files", "survives", "leaves a thread waiting", "leaves descriptors open"},
    "fork_many": _FORKS,
    "fork_otherwise": _FORKS,
    "run_programs": {"runs programs", "tells a secret"},
    "run_from_memory": {"runs programs", "hides memory"},
    # talks to the network,
    "connect": {"connects"},
    "send_datagram": {"connects"},
    "connect_abstract": {"connects"},
    "odd_sockets": {"makes sockets"},
    "listen": {"listens"},
    # and asks of the kernel what they may ask.
    "user_namespace": _KERNEL,
    "namespaces": _KERNEL,
    "mount": _KERNEL,
    "chroot": _KERNEL,
    "bpf": _KERNEL,
    "keyring": _KERNEL,
    "user_faults": _KERNEL,
    "io_ring": _KERNEL,
    "perf": _KERNEL,
    "trace_me": _KERNEL,
    "personality": _KERNEL,
    "terminal": _KERNEL,
    "devices": {"opens devices"},
    "identity": _KERNEL,
    "clock": _KERNEL,
    "host_name": _KERNEL,
    "pin_memory": _KERNEL,
}

NOT_PROMISED: dict[str, frozenset[str]] = {name: frozenset(harms) for name, harms in _LISTED.items()}

EVERYWHERE = frozenset(
    {
        *("reads files", "tells a secret", "changes files", "writes code", "leaves something", "finds a message"),
        *(
            "ends a process",
            "may signal",
            "sees processes",
            "forks",
            "survives",
            "runs programs",
            "connects",
            "listens",
        ),
    }
)
"""Harm that root does under `process` on every Linux; what else gets through depends on kernel and container."""

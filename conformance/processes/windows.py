"""Windows ends the processes of a job when the last handle of the job closes, which is when this process ends.

Not tested: nothing here runs on Windows so far.
"""

import ctypes
from functools import cache
from typing import Any, Final

_EXTENDED_LIMIT_INFORMATION: Final = 9
_KILL_ON_JOB_CLOSE: Final = 0x2000
_SET_QUOTA_AND_TERMINATE: Final = 0x0100 | 0x0001


class _Limits(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION of winnt.h."""

    _fields_ = (
        ("per_process_time", ctypes.c_int64),
        ("per_job_time", ctypes.c_int64),
        ("flags", ctypes.c_uint32),
        ("working_set", ctypes.c_size_t * 2),
        ("active_processes", ctypes.c_uint32),
        ("affinity", ctypes.c_size_t),
        ("classes", ctypes.c_uint32 * 2),
        ("counters", ctypes.c_uint64 * 6),
        ("memory", ctypes.c_size_t * 4),
    )


def end_with_this_process(pid: int) -> None:
    """Put a process, with all that it will start, into the job of this one; raises OSError if Windows refuses."""
    api = _api()
    process = api.OpenProcess(_SET_QUOTA_AND_TERMINATE, False, pid)  # noqa: FBT003 — the call of Windows is so
    if not process or not api.AssignProcessToJobObject(_job(), process):
        raise OSError(0, "cannot put the process into a job")
    api.CloseHandle(process)


@cache
def _job() -> int:
    """Return the job; its handle stays open on purpose."""
    job = _api().CreateJobObjectW(None, None)
    limits = _Limits(flags=_KILL_ON_JOB_CLOSE)
    _api().SetInformationJobObject(job, _EXTENDED_LIMIT_INFORMATION, ctypes.byref(limits), ctypes.sizeof(limits))
    return int(job)


@cache
def _api() -> Any:
    api = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined]
    for name in ("CreateJobObjectW", "OpenProcess"):
        getattr(api, name).restype = ctypes.c_void_p
    api.AssignProcessToJobObject.argtypes = (ctypes.c_void_p, ctypes.c_void_p)
    api.SetInformationJobObject.argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_uint32)
    api.CloseHandle.argtypes = (ctypes.c_void_p,)
    return api

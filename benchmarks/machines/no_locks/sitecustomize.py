"""A file system that has no locks at all, as some network and phone file systems."""

import errno
import fcntl


def _refuse(*_: object) -> None:
    raise OSError(errno.ENOSYS, "Function not implemented")


fcntl.flock = fcntl.lockf = _refuse

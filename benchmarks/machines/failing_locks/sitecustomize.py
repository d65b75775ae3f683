"""A file system whose lock service is away, as NFS without its daemon."""

import errno
import fcntl


def _refuse(*_: object) -> None:
    raise OSError(errno.ENOLCK, "No locks available")


fcntl.flock = fcntl.lockf = _refuse

"""Sequential write and read of one mount, told in the fields of fio's JSON output.

Writes with O_DIRECT where the file system has it, else through the page cache with fsync before the clock
stops and the pages dropped before the read. Deletes its file.
"""

import json
import mmap
import os
import sys
import time
from pathlib import Path

BLOCK_BYTES = 4 << 20


def main() -> int:
    """Write STORAGE_BYTES below STORAGE_PATH and read them back."""
    total = int(os.environ["STORAGE_BYTES"]) // BLOCK_BYTES * BLOCK_BYTES
    host = os.environ.get("HOSTNAME", "probe")
    path = Path(os.environ["STORAGE_PATH"]) / f".acceptance-{host}"
    block = mmap.mmap(-1, BLOCK_BYTES)
    block.write(os.urandom(BLOCK_BYTES))
    job: dict[str, object] = {"jobname": os.environ.get("STORAGE_NAME", path.parent.name), "error": 0}
    try:
        job["write"] = _write(path, block, total)
        job["read"] = _read(path, block, total)
    except OSError as error:
        job["error"] = error.errno or 1
        sys.stderr.write(f"{path}: {error.strerror}\n")
    finally:
        path.unlink(missing_ok=True)
    document = {"fio version": "storage-probe-1", "timestamp": int(time.time()), "jobs": [job]}
    sys.stdout.write(json.dumps(document, indent=2) + "\n")
    return 1 if job["error"] else 0


def _open(path: Path, flags: int) -> int:
    try:
        return os.open(path, flags | os.O_DIRECT, 0o600)
    except OSError:
        return os.open(path, flags, 0o600)


def _write(path: Path, block: mmap.mmap, total: int) -> dict[str, float]:
    file = _open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        started = time.perf_counter()
        for _ in range(total // BLOCK_BYTES):
            written = os.write(file, block)
            if written != BLOCK_BYTES:
                raise OSError(28, "short write")
        os.fsync(file)
        seconds = time.perf_counter() - started
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(file)
    return _figures(total, seconds)


def _read(path: Path, block: mmap.mmap, total: int) -> dict[str, float]:
    file = _open(path, os.O_RDONLY)
    try:
        started = time.perf_counter()
        done = 0
        while got := os.readv(file, [block]):
            done += got
        seconds = time.perf_counter() - started
    finally:
        os.close(file)
    if done != total:
        raise OSError(5, f"read {done} of {total} bytes")
    return _figures(total, seconds)


def _figures(total: int, seconds: float) -> dict[str, float]:
    return {"io_bytes": total, "bw_bytes": int(total / seconds), "runtime": int(seconds * 1000)}


if __name__ == "__main__":
    sys.exit(main())

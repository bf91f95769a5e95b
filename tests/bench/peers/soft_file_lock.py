"""Times pairs of acquire and release: soft_file_lock.py FOLDER. Reads a count a line, answers nanoseconds."""

import os
import sys
import time

from filelock import SoftFileLock

lock = SoftFileLock(os.path.join(sys.argv[1], "soft-file-lock"))
for line in sys.stdin:
    start = time.perf_counter_ns()
    for _ in range(int(line)):
        lock.acquire()
        lock.release()
    print(time.perf_counter_ns() - start, flush=True)

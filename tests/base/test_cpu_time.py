"""CPU time: work counts, here and in ended children; sleep does not."""

import subprocess
import sys
import time

from shadow_gnn.base.cpu_time import cpu_seconds

BUSY = "import time\nwhile time.process_time() < 0.3: pass"


def test_work_counts_and_sleep_does_not():
    begin = cpu_seconds()
    time.sleep(0.3)
    slept = cpu_seconds() - begin
    end = time.process_time() + 0.2
    while time.process_time() < end:
        pass
    assert slept < 0.2
    assert cpu_seconds() - begin >= 0.2


def test_work_of_ended_children_counts():
    begin = cpu_seconds()
    subprocess.run([sys.executable, "-c", BUSY], check=True)
    assert cpu_seconds() - begin >= 0.3

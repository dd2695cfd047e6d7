"""What is free: by the system, by control groups of both versions, and in portable ways."""

import os
import sys

import pytest

from shadow_gnn.base.memory import available_memory


def system(root, available_kb=8_000_000, groups=""):
    """Lay out /proc below a folder."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/meminfo").write_text(f"MemTotal: 16000000 kB\nMemAvailable: {available_kb} kB\n")
    (root / "proc/self/cgroup").write_text(groups)
    return root


def group(path, **files):
    path.mkdir(parents=True)
    for name, text in files.items():
        (path / name.replace("__", ".")).write_text(str(text))


def test_free_memory_is_what_the_system_says(tmp_path):
    assert available_memory(system(tmp_path)) == 8_000_000 * 1024


def test_limit_of_a_control_group_counts(tmp_path):
    system(tmp_path, groups="0::/a/b\n")
    group(tmp_path / "sys/fs/cgroup/a/b", memory__max="max", memory__current=5)
    (tmp_path / "sys/fs/cgroup/a/memory.max").write_text("3000000\n")
    (tmp_path / "sys/fs/cgroup/a/memory.current").write_text("1000000\n")
    (tmp_path / "sys/fs/cgroup/a/memory.stat").write_text("anon 7\ninactive_file 500000\n")
    assert available_memory(tmp_path) == 2_500_000


def test_limit_of_an_old_control_group_counts(tmp_path):
    system(tmp_path, groups="11:cpu,cpuacct:/x\n5:memory:/x\n")
    files = {"memory__limit_in_bytes": 3_000_000, "memory__usage_in_bytes": 4_000_000}
    group(tmp_path / "sys/fs/cgroup/memory/x", **files)
    assert available_memory(tmp_path) == 0
    (tmp_path / "sys/fs/cgroup/memory/x/memory.limit_in_bytes").write_text(str(2**63 - 4096))
    assert available_memory(tmp_path) == 8_000_000 * 1024


def test_other_systems_are_asked_in_portable_ways(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "psutil", None)
    assert available_memory(tmp_path) == pytest.approx(
        os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), rel=0.5
    )
    monkeypatch.setattr(os, "sysconf_names", {"SC_PHYS_PAGES": 1, "SC_PAGE_SIZE": 2})
    assert available_memory(tmp_path) == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")

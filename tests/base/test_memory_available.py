"""Available memory: by the system, by control groups of both versions, in portable ways; and what fits into it."""

import os
import sys

import pytest

from shadow_gnn.base.memory_available import available_memory, check_need, readable
from shadow_gnn.base.memory_needs import MemoryNeed


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


def test_what_fits_passes_and_what_does_not_comes_with_advice():
    need = MemoryNeed("full", {"activations": 30 * 10**9, "weights": 10**9})
    check_need(need, 31 * 10**9)
    check_need(need, None)
    with pytest.raises(
        ValueError, match=r"^memory: full needs about 31 GB \(30 GB of it activations\), got 8 GB; try"
    ) as fault:
        check_need(need, 8 * 10**9)
    assert 'training.method = "shadow"' in str(fault.value)
    with pytest.raises(ValueError, match=r"try fewer layers$"):
        check_need(need, 1, advice=["fewer layers"])


@pytest.mark.parametrize(
    ("need", "word"),
    [
        (MemoryNeed("shadow", {"activations": 10}), "a lower training.batch_size"),
        (MemoryNeed("shadow", {"cached scopes": 10, "weights": 1}), "a lower training.cache_megabytes"),
        (MemoryNeed("saint", {"activations": 10}), 'training.method = "shadow"'),
        (MemoryNeed("sign(3,3,3)", {"features": 10}), "fewer powers"),
    ],
)
def test_advice_is_for_the_way_of_training(need, word):
    with pytest.raises(ValueError, match=r"^memory: ") as fault:
        check_need(need, 1)
    assert word in str(fault.value)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1500, "1.5 kB"),
        (25_850_000_000, "26 GB"),
        (682 * 10**9, "682 GB"),
        (10**15, "1000 TB"),
    ],
)
def test_bytes_are_written_as_people_do(size, text):
    assert readable(size) == text

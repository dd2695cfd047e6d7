"""The log of updates: torn and damaged files, full disks, one writer, and the change to a compacted folder."""

from __future__ import annotations

import errno
import os
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadow_gnn.base.errors import FolderError, WriteError
from shadow_gnn.graph.changes import log_reader
from shadow_gnn.graph.changes.log import LOG, NEXT, UpdateLog, frame_of, head_of, read_log, take_over
from shadow_gnn.graph.changes.log_reader import LogReader
from shadow_gnn.graph.record import Graph

GRAPH = Graph(np.array([0, 1, 2]), np.array([1, 0], np.int32))
OTHER = Graph(np.array([0, 0, 0, 0]), np.array([], np.int32))


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "log"


def filled(folder, frames):
    log = UpdateLog(folder, GRAPH)
    for records in frames:
        log.append(records)
    log.close()


def reopened(folder):
    log = UpdateLog(folder, GRAPH)
    log.close()
    return log


def test_records_come_back_in_order(folder):
    filled(folder, [[b"a", b"bb"], [b""], [b"ccc"]])
    log = reopened(folder)
    assert log.records == [b"a", b"bb", b"", b"ccc"]
    assert (log.next_number, log.cut) == (4, 0)


def test_a_torn_last_frame_is_cut_off_at_any_byte(folder):
    filled(folder, [[b"first"], [b"second", b"third"]])
    whole = (folder / LOG).read_bytes()
    start = len(head_of(GRAPH).to_bytes()) + len(frame_of([b"first"], 0))
    for size in range(start, len(whole)):
        (folder / LOG).write_bytes(whole[:size])
        log = reopened(folder)
        assert (log.records, log.cut) == ([b"first"], size - start)
        assert (folder / LOG).read_bytes() == whole[:start]


@given(noise=st.binary(max_size=60))
def test_noise_after_the_last_frame_is_cut_off(noise, tmp_path_factory):
    folder = tmp_path_factory.mktemp("log")
    filled(folder, [[b"first"]])
    with open(folder / LOG, "ab") as handle:
        handle.write(noise)
    log = reopened(folder)
    assert (log.records, log.cut) == ([b"first"], len(noise))


def test_damage_before_whole_frames_is_an_error_wherever_it_is(folder):
    filled(folder, [[b"first"], [b"second"], [b"third"]])
    whole = (folder / LOG).read_bytes()
    last = len(whole) - len(frame_of([b"third"], 2))
    for place in range(last):
        spoiled = bytearray(whole)
        spoiled[place] ^= 0x41
        (folder / LOG).write_bytes(bytes(spoiled))
        with pytest.raises(FolderError, match=r"damaged|not a log"):
            read_log(folder / LOG)


def test_one_flipped_bit_is_found_wherever_it_is_also_in_the_last_frame(folder):
    filled(folder, [[b"first"], [b'{"second": 2}', b"third"]])
    whole = (folder / LOG).read_bytes()
    for place in range(len(whole)):
        for bit in range(8) if place > 200 else (place % 8,):  # The first line is long.
            spoiled = bytearray(whole)
            spoiled[place] ^= 1 << bit
            (folder / LOG).write_bytes(bytes(spoiled))
            with pytest.raises(FolderError, match=r"updates.log: (is damaged|is not a log)"):
                UpdateLog(folder, GRAPH)
    assert (folder / LOG).read_bytes() == bytes(spoiled)  # And nothing was cut off.


def test_blocks_that_a_machine_without_power_did_not_write_are_cut_off(folder):
    filled(folder, [[b"first"], [b"x" * 2000]])
    whole = (folder / LOG).read_bytes()
    start = len(head_of(GRAPH).to_bytes()) + len(frame_of([b"first"], 0))
    for first, last in ((start, len(whole)), (512, 1024), (1024, 2048), (2048, len(whole))):
        (folder / LOG).write_bytes(whole[:first] + bytes(last - first) + whole[last:])
        assert reopened(folder).records == [b"first"]


def test_a_damaged_frame_before_a_torn_one_is_an_error(folder):
    filled(folder, [[b"first"], [b"second"], [b"third"]])
    whole = (folder / LOG).read_bytes()
    spoiled = bytearray(whole)
    spoiled[whole.index(b"second")] ^= 1
    (folder / LOG).write_bytes(bytes(spoiled[:-1]))
    with pytest.raises(FolderError, match=r"damaged after byte \d+: .* or shorten it to \d+ bytes to continue"):
        UpdateLog(folder, GRAPH)


def test_bytes_that_look_like_many_frames_are_refused_in_no_time(folder):
    filled(folder, [])
    head = (folder / LOG).read_bytes()
    lying = frame_of([bytes(1 << 20)], 9)[:8] + b"????" + bytes(8)
    (folder / LOG).write_bytes(head + 100_000 * lying)
    begin = time.process_time()
    with pytest.raises(FolderError, match="damaged"):
        read_log(folder / LOG)
    assert time.process_time() - begin < 20  # Each of them against all bytes after it: minutes.


def test_one_writer(folder):
    first = UpdateLog(folder, GRAPH)
    with pytest.raises(WriteError, match="in use by another process"):
        UpdateLog(folder, GRAPH)
    first.close()
    reopened(folder)


def test_a_log_of_another_graph_is_refused(folder):
    filled(folder, [[b"a"]])
    with pytest.raises(FolderError, match="must be of the graph in memory, it is of another one"):
        UpdateLog(folder, OTHER)


def test_a_full_disk_loses_nothing_and_later_updates_work(folder, monkeypatch):
    log = UpdateLog(folder, GRAPH)
    log.append([b"first"])
    real = os.pwrite

    def full(handle, data, at):
        if len(data) > 3:
            return real(handle, data[:3], at)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(WriteError, match=r"updates.log: cannot be written \(30 bytes needed\): No space left"):
        log.append([b"second"])
    monkeypatch.setattr(os, "pwrite", real)
    log.append([b"third"])
    log.close()
    assert reopened(folder).records == [b"first", b"third"]


def test_after_a_fault_of_the_disk_no_update_is_taken(folder, monkeypatch):
    log = UpdateLog(folder, GRAPH)
    real = os.fdatasync

    def broken(handle):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fdatasync", broken)
    with pytest.raises(WriteError, match="Input/output error"):
        log.append([b"first"])
    monkeypatch.setattr(os, "fdatasync", real)
    with pytest.raises(WriteError, match="takes no updates after a fault of the disk"):
        log.append([b"second"])
    log.close()
    assert reopened(folder).records == []


def test_followers_read_whole_frames_alone(folder):
    log = UpdateLog(folder, GRAPH)
    log.append([b"a"])
    reader = LogReader(folder, GRAPH)
    assert reader.read() == [b"a"]
    assert reader.read() == []
    log.append([b"b", b"c"])
    log.append([b"d"])
    assert reader.read(stop=3) == [b"b", b"c"]
    whole = (folder / LOG).read_bytes()
    (folder / LOG).write_bytes(whole[:-1])
    assert reader.read() == []
    assert not reader.ended()
    (folder / LOG).write_bytes(whole)
    assert reader.read() == [b"d"]
    reader.close()
    log.close()


def test_followers_name_a_flipped_bit_wherever_it_is(folder, monkeypatch):
    monkeypatch.setattr(log_reader, "_PATIENCE", 0)
    filled(folder, [[b"first"], [b'{"second": 2}']])
    whole = (folder / LOG).read_bytes()
    for place in range(len(whole)):
        spoiled = bytearray(whole)
        spoiled[place] ^= 1 << place % 8
        (folder / LOG).write_bytes(bytes(spoiled))
        with pytest.raises(FolderError, match=r"updates.log: (is damaged|is not a log)"):
            follow_all(folder)


def follow_all(folder):
    reader = LogReader(folder, GRAPH)
    try:
        while reader.read():
            pass
    finally:
        reader.close()


def test_followers_wait_for_bytes_that_are_still_being_written(folder, monkeypatch):
    filled(folder, [[b"first"], [b"second"]])
    whole = (folder / LOG).read_bytes()
    reader = LogReader(folder, GRAPH)
    spoiled = bytearray(whole)
    spoiled[-1] ^= 1
    (folder / LOG).write_bytes(bytes(spoiled))
    assert reader.read() == [b"first"]
    monkeypatch.setattr(log_reader.time, "sleep", lambda seconds: (folder / LOG).write_bytes(whole))
    assert reader.read() == []
    assert reader.read() == [b"second"]
    reader.close()


def test_followers_notice_another_log_and_frames_that_are_gone(folder):
    log = UpdateLog(folder, GRAPH)
    log.append([b"a"])
    at = log.size
    log.append([b"b"])
    reader = LogReader(folder, GRAPH)
    assert reader.read() == [b"a", b"b"]
    whole = (folder / LOG).read_bytes()
    (folder / LOG).write_bytes(whole[:at])
    assert reader.ended()
    (folder / LOG).write_bytes(whole[:at] + frame_of([b"other"], 1) + frame_of([b"more"], 2))
    assert reader.ended()
    (folder / LOG).write_bytes(whole)
    assert not reader.ended()
    (folder / "new").write_bytes(whole)
    os.replace(folder / "new", folder / LOG)
    assert reader.ended()
    reader.close()
    log.close()


def test_a_reader_says_that_there_is_no_log(tmp_path):
    with pytest.raises(FolderError, match="is it the log of a service"):
        LogReader(tmp_path, GRAPH)


def test_a_stopped_change_to_a_compacted_folder_is_finished_or_dropped(folder):
    filled(folder, [[b"a"]])
    (folder / NEXT).write_bytes(head_of(OTHER, 1).to_bytes())
    take_over(folder, GRAPH)
    assert not (folder / NEXT).exists()
    assert reopened(folder).records == [b"a"]
    (folder / NEXT).write_bytes(head_of(OTHER, 1, [("key", "sum", 1, 0)]).to_bytes() + frame_of([b"later"], 1))
    log = UpdateLog(folder, OTHER)
    log.close()
    assert (log.head.first, log.head.keys, log.records, log.next_number) == (1, (("key", "sum", 1, 0),), [b"later"], 2)

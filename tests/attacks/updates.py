"""Hostile logs of updates: frames with checksums that fit, and records that no service would write."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.attacks.attempt import Attack, shadow
from tests.communities import communities

from shadow_gnn.graph.changes.live_graph import LiveGraph, log_folder
from shadow_gnn.graph.changes.log import LOG, NEXT, frame_of, head_of
from shadow_gnn.graph.store import open_graph, save_graph

Build = Callable[[Path], Callable[[], object]]


def log(data: Callable[[bytes], bytes], *, name: str = LOG, follow: bool = False) -> Build:
    """Return an attack by a log; data: returns its bytes, given those of an empty log of the graph."""

    def build(place: Path) -> Callable[[], object]:
        save_graph(replace(communities(), x=None), place / "g")
        folder = log_folder(place / "g")
        folder.mkdir()
        empty = head_of(open_graph(place / "g")).to_bytes()
        (folder / LOG).write_bytes(empty)
        (folder / name).write_bytes(data(empty))
        if follow:
            return lambda: LiveGraph(open_graph("g"), Path("g.updates"), follow=True)
        return shadow("graph", "compact", "g", "--out", "out")

    return build


def records(*contents: Any) -> Callable[[bytes], bytes]:
    """Return a log with one frame of these records, given as JSON or as bytes."""
    data = [content if isinstance(content, bytes) else json.dumps(content).encode() for content in contents]
    return lambda head: head + frame_of(data, 0)


def head(**changes: Any) -> Callable[[bytes], bytes]:
    """Return a change of the first line, with a checksum that fits; None takes a value away."""

    def changed(data: bytes) -> bytes:
        mark, line = data.split(b"\n")[:2]
        content = json.loads(line.partition(b" ")[2]) | changes
        return signed(mark, json.dumps({name: value for name, value in content.items() if value is not None}).encode())

    return changed


def signed(mark: bytes, line: bytes) -> bytes:
    """Return the first lines of a log with a checksum that fits."""
    return mark + b"\n" + f"{zlib.crc32(line):08x} ".encode() + line + b"\n"


def body(data: bytes, number: int = 0) -> Callable[[bytes], bytes]:
    """Return a log with a frame whose checksum fits, but whose records do not fill it."""
    checksum = zlib.crc32(data, zlib.crc32(number.to_bytes(8, "little")))
    return lambda start: start + struct.pack("<4sIIQ", b"SHUP", len(data), checksum, number) + data


EDGE = {"set_edges": [[1, 2]]}

ATTACKS = {
    "log_of_nothing": Attack(log(lambda data: b""), "g.updates/updates.log: is not a log of updates"),
    "log_without_end_of_line": Attack(log(lambda data: data[:-1]), "updates.log: is not a log of updates"),
    "log_of_another_graph": Attack(
        log(head(graph="0" * 32)), "it is of another one (120 nodes); give the graph folder that it was begun with"
    ),
    "log_with_a_flipped_bit_in_its_first_line": Attack(
        log(lambda data: data.replace(b'"first": 0', b'"first": 1')),
        "updates.log: is damaged in its first line; restore the file from a copy",
    ),
    "log_head_without_keys": Attack(log(head(keys=None)), "updates.log: is not a log of updates: its first line has"),
    "log_head_of_deep_lists": Attack(
        log(lambda data: signed(data.partition(b"\n")[0], b'{"keys": ' + b"[" * 100_000)),
        "updates.log: is not a log of updates: its first line has RecursionError",
    ),
    "log_head_of_a_negative_number": Attack(
        log(head(first=-5)), "updates.log: number of the first update must be from 0 to below 2^62, got -5"
    ),
    "log_head_of_a_number_beyond_64_bits": Attack(
        log(head(first=2**70)), "updates.log: number of the first update must be from 0 to below 2^62, got"
    ),
    "log_with_a_flipped_bit_in_its_last_update": Attack(
        log(lambda data: records(EDGE)(data).replace(b"[[1, 2]]", b"[[1, 3]]")),
        "its last updates are not as they were written; restore the file from a copy, or shorten it to",
    ),
    "log_with_a_flipped_bit_before_others": Attack(
        log(lambda data: (records(EDGE)(data) + frame_of([b"{}"], 1)).replace(b"[[1, 2]]", b"[[1, 3]]")),
        "updates.log: is damaged at byte",
    ),
    "log_whose_frame_is_a_copy": Attack(
        log(lambda data: records(EDGE)(data) + frame_of([json.dumps(EDGE).encode()], 0)),
        "updates.log: record 0 must be number 1; is it a copy?",
    ),
    "frame_with_a_record_beyond_its_end": Attack(
        log(body(struct.pack("<I", 2**31) + b"{}")), "its last updates are not as they were written"
    ),
    "frame_with_half_a_size": Attack(log(body(b"\x01\x02")), "its last updates are not as they were written"),
    "record_that_is_not_json": Attack(log(records(b"\xff\xfe")), "updates.log: a record is no update"),
    "record_of_deep_lists": Attack(log(records(b"[" * 100_000)), "updates.log: a record is no update"),
    "record_that_is_a_list": Attack(log(records([1, 2])), "updates.log: a record is no update"),
    "record_of_an_infinite_count": Attack(
        log(records(b'{"num_nodes": Infinity}')), "updates.log: a record is no update"
    ),
    "record_of_edges_of_text": Attack(
        log(records({"set_edges": [["a", "b"]]})), "updates.log: a record is no update: invalid literal for int()"
    ),
    "record_of_ids_beyond_64_bits": Attack(
        log(records({"set_edges": [[1, 2**70]]})), "updates.log: a record is no update"
    ),
    "record_of_a_node_that_is_not_there": Attack(
        log(records({"set_edges": [[1, 500]]})),
        "updates.log: an update does not fit the graph: receiver must be node ids from 0 to 119, got 500",
    ),
    "record_of_a_negative_node": Attack(
        log(records({"remove_edges": [[-1, 5]]})),
        "an update does not fit the graph: sender must be node ids from 0 to 119, got -1",
    ),
    "record_of_2_to_40_nodes": Attack(
        log(records({"num_nodes": 2**40})), "an update does not fit the graph: update: nodes must be at most 2147483647"
    ),
    "record_of_weights_in_a_plain_graph": Attack(
        log(records(EDGE | {"weight": [2.0]})),
        "an update does not fit the graph: update: weights of edges must be left out",
    ),
    "record_of_a_removed_node_that_is_not_there": Attack(
        log(records({"remove_nodes": [2**40]})),
        "an update does not fit the graph: update: nodes to remove must be node ids from 0 to 119",
    ),
    "record_of_nothing": Attack(log(records({})), "an update does not fit the graph: update: must add, change or"),
    "next_log_that_is_damaged": Attack(
        log(lambda data: data[:-3] + b"x}\n", name=NEXT), "updates.next: is damaged in its first line"
    ),
    "followed_log_of_a_node_that_is_not_there": Attack(
        log(records({"set_edges": [[1, 500]]}), follow=True),
        "updates.log: an update does not fit the graph: receiver must be node ids from 0 to 119, got 500",
    ),
    "followed_log_with_a_flipped_bit": Attack(
        log(lambda data: records(EDGE)(data).replace(b"[[1, 2]]", b"[[1, 3]]"), follow=True),
        "its last updates are not as they were written",
    ),
    "followed_log_of_nothing": Attack(log(lambda data: b"", follow=True), "updates.log: is not a log of updates"),
}

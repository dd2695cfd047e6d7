"""Hostile sources of an import: bombs, code in pickles, sizes that lie, names that leave the folder, foreign work."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tests.attacks.attempt import Attack, shadow
from tests.raw_layouts import write_files, write_ogb_text, write_planetoid, write_saint

from shadow_gnn.base.files import silent
from shadow_gnn.graph.datasets.download import unpack
from shadow_gnn.graph.importing.formats.pickled import read_pickled, read_torch

Build = Callable[[Path], Callable[[], object]]


def importing(files: dict[str, Any], source: str, *options: str) -> Build:
    """Return an attack on `shadow data import` of some files."""

    def build(place: Path) -> Callable[[], object]:
        write_files(place, {name: text if isinstance(text, bytes) else text.encode() for name, text in files.items()})
        return shadow("data", "import", source, "out", *options)

    return build


def edges(text: str | bytes, *options: str) -> Build:
    """Return an attack by an edge list."""
    return importing({"e.csv": text}, "e.csv", *options)


class Runs:
    """A pickle that would make a file."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, ("touch pwned",)


def pickled(data: Callable[[], bytes]) -> Build:
    """Return an attack on the reader of pickles."""

    def build(place: Path) -> Callable[[], object]:
        (place / "a.pkl").write_bytes(data())
        return lambda: read_pickled(Path("a.pkl"))

    return build


def doubled() -> bytes:
    """Return a pickle of few bytes that unfolds to 2^40 values."""
    value: list[Any] = [0]
    for _ in range(40):
        value = [value, value]
    return pickle.dumps(value)


def saved(value: Callable[[], Any]) -> Build:
    """Return an attack on the reader of torch's files."""

    def build(place: Path) -> Callable[[], object]:
        torch.save(value(), place / "a.pt")
        return lambda: read_torch(Path("a.pt"))

    return build


def copies() -> Any:
    """Return a hundred tensors that share one storage."""
    whole = torch.zeros(1 << 20)
    return [whole[number:] for number in range(100)]


def zeros_npz(name: str, num_bytes: int) -> bytes:
    """Return a zip of one member of many zeros with a header of .npy."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive, archive.open(name, "w", force_zip64=True) as to:
        head = io.BytesIO()
        np.lib.format.write_array_header_1_0(head, {"descr": "<i8", "fortran_order": False, "shape": (num_bytes // 8,)})
        to.write(head.getvalue())
        block = bytes(1 << 20)
        for _ in range(num_bytes >> 20):
            to.write(block)
    return stream.getvalue()


def bomb(place: Path) -> Callable[[], object]:
    """Import a .npz whose array would inflate a thousand times."""
    (place / "g.npz").write_bytes(zeros_npz("indptr.npy", 1 << 28))
    return shadow("data", "import", "g.npz", "out")


def lying_member(place: Path) -> Callable[[], object]:
    """Import a .npz whose member claims 2^60 values."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": "<i8", "fortran_order": False, "shape": (2**60,)})
    with zipfile.ZipFile(place / "g.npz", "w") as archive:
        archive.writestr("indptr.npy", stream.getvalue())
    return shadow("data", "import", "g.npz", "out")


def objects(place: Path) -> Callable[[], object]:
    """Import a .npz of Python objects that would run a program."""
    np.savez(place / "g.npz", indptr=np.array([0, 1]), indices=np.array([Runs(), Runs()], dtype=object))
    return shadow("data", "import", "g.npz", "out")


def escaping(place: Path) -> Callable[[], object]:
    """Unpack an archive whose member leaves the folder; it is left out, and the file outside is not made."""
    with zipfile.ZipFile(place / "a.zip", "w") as archive:
        archive.writestr("top/../../escaped", "x")
        archive.writestr("/top/../escaped", "x")

    def action() -> None:
        unpack(Path("a.zip"), Path("inner"), silent)
        raise ValueError(f"escaped: {Path('escaped').exists() or Path('../escaped').exists()}")

    return action


def zip_bomb(place: Path) -> Callable[[], object]:
    """Unpack an archive that would inflate a thousand times."""
    (place / "a.zip").write_bytes(zeros_npz("top/zeros", 1 << 28))
    return lambda: unpack(Path("a.zip"), Path("inner"), silent)


def overlapping(place: Path) -> Callable[[], object]:
    """Unpack an archive whose directory is cut."""
    (place / "a.zip").write_bytes(zeros_npz("top/zeros", 1 << 20)[:-30])
    return lambda: unpack(Path("a.zip"), Path("inner"), silent)


def parquet(data: bytes) -> Build:
    """Return an attack by a Parquet file."""
    return importing({"e.parquet": data}, "e.parquet")


def lying_footer() -> bytes:
    """Return the bytes of a Parquet file that claims a footer of 4 GB."""
    return b"PAR1" + bytes(100) + struct.pack("<I", 2**32 - 1) + b"PAR1"


def repeated_parquet(place: Path) -> Callable[[], object]:
    """Import a Parquet file of few bytes that would inflate to gigabytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    block = pa.table({"src": pa.array(np.zeros(1 << 22, np.int64)), "dst": pa.array(np.zeros(1 << 22, np.int64))})
    with pq.ParquetWriter(place / "e.parquet", block.schema, compression="zstd") as writer:
        for _ in range(10):
            writer.write_table(block)
    return shadow("data", "import", "e.parquet", "out", "--memory", "64MB")


def saint(name: str, text: str | bytes) -> Build:
    """Return an attack by a folder of GraphSAINT with one hostile file."""

    def build(place: Path) -> Callable[[], object]:
        write_saint(place / "s")
        (place / "s" / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return shadow("data", "import", "s", "out")

    return build


def ogb(name: str, text: str) -> Build:
    """Return an attack by a folder of OGB with one hostile file."""

    def build(place: Path) -> Callable[[], object]:
        write_ogb_text(place / "o")
        (place / "o" / "raw" / name).write_bytes(gzip.compress(text.encode()))
        return shadow("data", "import", "o", "out")

    return build


def planetoid(place: Path) -> Callable[[], object]:
    """Read a folder of Planetoid whose graph runs a program."""
    from shadow_gnn.graph.importing.formats.planetoid import read_planetoid

    write_planetoid(place / "p", "cora")
    (place / "p" / "ind.cora.graph").write_bytes(pickle.dumps(Runs()))
    return lambda: read_planetoid(Path("p"), "cora")


def linked_work(place: Path) -> Callable[[], object]:
    """Import within a memory limit where the name of the work folder links to other people's files."""
    (place / "victim").mkdir()
    (place / "victim" / "precious").write_text("x")
    (place / "e.csv").write_text("0,1\n1,2\n")
    os.symlink("victim", place / ".L.work")
    return shadow("data", "import", "e.csv", "L", "--memory", "64MB")


def foreign_work(place: Path) -> Callable[[], object]:
    """Import within a memory limit where the work folder holds other files."""
    (place / ".L.work").mkdir()
    (place / ".L.work" / "precious").write_text("x")
    (place / "e.csv").write_text("0,1\n1,2\n")
    return shadow("data", "import", "e.csv", "L", "--memory", "64MB")


def features(data: bytes, name: str = "x.npy") -> Build:
    """Return an attack by a file of features."""
    return importing({"e.csv": "0,1\n1,2\n", name: data}, "e.csv", "--features", name)


def npy(shape: str, descr: str = "'<f4'") -> bytes:
    """Return a .npy of a header alone."""
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


ATTACKS = {
    "pickle_that_runs_a_program": Attack(
        pickled(lambda: pickle.dumps(Runs())), "a.pkl: must be a pickle of plain arrays: it asks for posix.system"
    ),
    "pickle_of_nested_references": Attack(
        pickled(doubled), "a.pkl: must be a pickle of plain arrays: it repeats its own values too often"
    ),
    "pickle_of_great_depth": Attack(
        pickled(lambda: b"]" * 50_000 + b"a" * 49_999 + b"a.pkl: must be a pickle of plain arrays"), "."
    ),
    "pickle_of_a_huge_length": Attack(
        pickled(
            lambda: b"\x80\x04\x8e" + struct.pack("<Q", 2**62) + b"a.pkl: must be a pickle of plain arrays: MemoryError"
        ),
        ".",
    ),
    "pickle_of_an_array_that_lies": Attack(
        pickled(lambda: pickle.dumps(np.zeros(4), protocol=2).replace(b"K\x04\x85", b"J\xff\xff\xff\x7f\x85")),
        "a.pkl: must be a pickle of plain arrays: an array of shape (2147483647,) must have 17179869176 bytes",
    ),
    "pickle_that_is_cut": Attack(
        pickled(lambda: pickle.dumps(list(range(1000)))[:-40]), "must be a pickle of plain arrays"
    ),
    "torch_file_that_runs_a_program": Attack(
        saved(lambda: {"edge": Runs()}), "a.pt: must be a pickle of plain arrays: it asks for posix.system"
    ),
    "torch_file_of_stride_zero": Attack(
        saved(lambda: torch.zeros(1).expand(700_000_000)),
        "a.pt: must be a pickle of plain arrays: a tensor of size (700000000,) repeats the values of its storage",
    ),
    "torch_file_of_many_copies": Attack(
        saved(copies), "a.pt: must be a pickle of plain arrays: it copies its own bytes too often"
    ),
    "planetoid_that_runs_a_program": Attack(
        planetoid, "p/ind.cora.graph: must be a pickle of plain arrays: it asks for posix.system"
    ),
    "npz_bomb": Attack(bomb, "which looks like a zip bomb"),
    "npz_member_that_lies": Attack(
        lying_member, "g.npz: array 'indptr' claims the impossible shape (1152921504606846976,)"
    ),
    "npz_of_objects": Attack(
        objects,
        "g.npz: array 'indices' has a header that does not describe a plain array of booleans, integers or floats",
    ),
    "npz_that_is_no_zip": Attack(
        importing({"g.npz": b"PK\x03\x04" + bytes(50)}, "g.npz"), "g.npz: is not a readable .npz file"
    ),
    "zip_that_leaves_its_folder": Attack(escaping, "escaped: False"),
    "zip_bomb": Attack(zip_bomb, "a.zip: would inflate to too many bytes, like a zip bomb"),
    "zip_that_is_cut": Attack(overlapping, "a.zip: is not a readable zip archive"),
    "parquet_with_a_footer_that_lies": Attack(parquet(lying_footer()), "e.parquet: is not a readable Parquet file"),
    "parquet_of_zeros": Attack(parquet(bytes(2000)), "e.parquet: is not a text file"),
    "parquet_bomb": Attack(repeated_parquet, "which looks like a bomb"),
    "csv_of_one_column": Attack(edges("0\n1\n2\n"), "e.csv: must have two columns of node ids, it has 1"),
    "csv_with_null_bytes": Attack(edges("0,1\n\0,2\n"), "e.csv: is not a text file"),
    "csv_that_is_not_utf8": Attack(edges(b"a,b\n\xff\xfe,c\n"), "e.csv: line 2: column 0 must be UTF-8 text"),
    "csv_id_of_2_to_64": Attack(
        edges("0,1\n18446744073709551616,2\n", "--ids", "integer"),
        "e.csv: line 2: column 0 must fit 64 bits, got '18446744073709551616'",
    ),
    "csv_negative_id": Attack(
        edges("0,1\n-5,2\n", "--num-nodes", "9"), "e.csv: line 2: column 0 must be in 0..8, got -5"
    ),
    "csv_id_beyond_the_nodes": Attack(
        edges("0,1\n9,2\n", "--num-nodes", "9"), "e.csv: line 2: column 0 must be in 0..8, got 9"
    ),
    "csv_nodes_of_2_to_62": Attack(
        edges("0,1\n", "--num-nodes", str(2**62)),
        "e.csv: build_graph: num_nodes must be in 0..4294967295, got 4611686018427387904",
    ),
    "csv_weight_that_is_not_finite": Attack(
        edges("src,dst,weight\n0,1,inf\n"), "e.csv: line 2: column weight must be finite and positive, got inf"
    ),
    "csv_weight_that_is_negative": Attack(
        edges("src,dst,weight\n0,1,-3\n"), "e.csv: line 2: column weight must be finite and positive, got -3.0"
    ),
    "csv_rows_of_other_lengths": Attack(edges("0,1\n1,2,3,4\n"), "e.csv: line 2 must have 2 columns, got 4"),
    "csv_that_is_empty": Attack(edges(""), "e.csv: must hold at least one line of values, it holds none"),
    "features_of_a_shape_that_wraps": Attack(
        features(npy("(4294967296, 4294967296)")), "x.npy: claims the impossible shape (4294967296, 4294967296)"
    ),
    "features_of_objects": Attack(
        features(npy("(3, 1)", "'|O'")),
        "x.npy: has a header that does not describe a plain array of booleans, integers or floats",
    ),
    "features_of_records": Attack(
        features(npy("(3, 1)", "[('a', '<f4')]")),
        "x.npy: has a header that does not describe a plain array of booleans, integers or floats",
    ),
    "features_of_three_dimensions": Attack(
        features(npy("(3, 0, 1)")), "x.npy: features must have one row per node (3), got shape (3, 0, 1)"
    ),
    "saint_roles_of_deep_lists": Attack(saint("role.json", "[" * 100_000), "s/role.json: is not JSON"),
    "saint_role_id_too_large": Attack(
        saint("role.json", '{"tr": [99], "va": [], "te": []}'), "s/role.json: split train must hold ids in 0..5, got 99"
    ),
    "saint_matrix_that_is_no_matrix": Attack(
        saint("adj_full.npz", b"PK\x05\x06" + bytes(18)), "s/adj_full.npz: must hold an array 'format', it holds"
    ),
    "ogb_count_that_lies": Attack(
        ogb("num-node-list.csv.gz", "4611686018427387904\n"),
        "o/raw: build_graph: num_nodes must be in 0..4294967295, got 4611686018427387904",
    ),
    "ogb_edge_out_of_range": Attack(
        ogb("edge.csv.gz", "0,1\n" * 7 + "0,4611686018427387904\n"),
        "o/raw: build_graph: dst must be in 0..5, got 4611686018427387904 in row 7",
    ),
    "work_folder_that_is_a_link": Attack(linked_work, ".L.work: cannot be made: is a link"),
    "work_folder_of_someone_else": Attack(foreign_work, ".L.work: exists already and was not made by this program"),
}

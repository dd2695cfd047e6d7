"""Hostile tables of `shadow data import --nodes` and `shadow data append`, and plans of how to read them."""

from __future__ import annotations

import base64
import contextlib
import gzip
import io
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from tests.attacks.attempt import Attack, shadow
from tests.attacks.signed import sign
from tests.raw_layouts import write_files

Build = Callable[[Path], Callable[[], object]]

NODES = "node,size,color\n0,1.5,red\n1,2.5,blue\n2,3.5,red\n"
EDGES = "src,dst\n0,1\n1,2\n"


def files(place: Path, **given: Any) -> None:
    """Write files; a dot in a name is given as __."""
    found = {name.replace("__", "."): data for name, data in given.items()}
    write_files(place, {name: data if isinstance(data, bytes) else data.encode() for name, data in found.items()})


def nodes(data: str | bytes, name: str = "n.csv", *options: str) -> Build:
    """Return an attack by a table of nodes."""

    def build(place: Path) -> Callable[[], object]:
        files(place, **{name.replace(".", "__"): data, "e__csv": EDGES})
        return shadow("data", "import", "e.csv", "out", "--nodes", name, *options)

    return build


def parquet_nodes(columns: Callable[[], dict[str, Any]]) -> Build:
    """Return an attack by a Parquet table of nodes."""

    def build(place: Path) -> Callable[[], object]:
        files(place, e__csv=EDGES)
        pq.write_table(pa.table(columns()), place / "n.parquet")
        return shadow("data", "import", "e.csv", "out", "--nodes", "n.parquet")

    return build


class Foreign(pa.ExtensionType):
    """A type that another program has added to Arrow."""

    def __init__(self) -> None:
        super().__init__(pa.int64(), "tests.foreign")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type: pa.DataType, serialized: bytes) -> Foreign:
        return cls()


def foreign() -> pa.Array:
    """Return an array of a type that is known where it is read."""
    with contextlib.suppress(pa.ArrowKeyError):  # It is known already.
        pa.register_extension_type(Foreign())
    return pa.ExtensionArray.from_storage(Foreign(), pa.array([0, 1, 2]))


def edges(data: str, *options: str) -> Build:
    """Return an attack by a table of edges next to a good one of nodes."""

    def build(place: Path) -> Callable[[], object]:
        files(place, n__csv=NODES, e__csv=data)
        return shadow("data", "import", "e.csv", "out", "--nodes", "n.csv", *options)

    return build


def plan(text: str | bytes) -> Build:
    """Return an attack by a plan."""

    def build(place: Path) -> Callable[[], object]:
        files(place, n__csv=NODES, e__csv=EDGES, p__toml=text)
        return shadow("data", "import", "e.csv", "out", "--nodes", "n.csv", "--plan", "p.toml")

    return build


def texts(words: bytes, numbers: bytes) -> Build:
    """Return an attack by a plan with a packed vocabulary."""
    packed = [base64.b64encode(zlib.compress(data)).decode() for data in (words, numbers)]
    return plan(f'[nodes.color]\nkind = "text"\ncolumns = 2\nwords = "{packed[0]}"\nnumbers = "{packed[1]}"\n')


def appending(
    more: str | bytes, *, name: str = "m.csv", record: Callable[[str], str] | None = None, links: str | None = None
) -> Build:
    """Return an attack on `shadow data append`; record: changes the graph's import.toml."""

    def build(place: Path) -> Callable[[], object]:
        files(place, n__csv=NODES, e__csv=EDGES, **{name.replace(".", "__"): more, "l__csv": links or ""})
        imported = shadow("data", "import", str(place / "e.csv"), str(place / "g"), "--nodes", str(place / "n.csv"))
        quietly(imported)
        if record is not None:
            path = place / "g" / "import.toml"
            path.write_text(record(path.read_text()))
            sign(place / "g")
        given = ("--edges", "l.csv") if links else ("--nodes", name)
        return shadow("data", "append", "g", "out", *given)

    return build


def quietly(action: Callable[[], object]) -> None:
    """Run a command without its output, which would come before the JSON of the attempts."""
    with contextlib.redirect_stdout(io.StringIO()):
        action()


def inflating(place: Path) -> Callable[[], object]:
    """Import a table of nodes of few bytes that inflates to gigabytes."""
    block = gzip.compress(bytes(1 << 24))
    files(place, e__csv=EDGES)
    (place / "n.csv.gz").write_bytes(gzip.compress(b"node,size\n") + 10 * block)
    return shadow("data", "import", "e.csv", "out", "--nodes", "n.csv.gz")


def device(place: Path) -> Callable[[], object]:
    """Import a table of nodes that is a device without end."""
    files(place, e__csv=EDGES)
    (place / "n.csv").symlink_to("/dev/zero")
    return shadow("data", "import", "e.csv", "out", "--nodes", "n.csv")


ATTACKS = {
    "node_table_of_nothing": Attack(nodes(""), "n.csv: must hold at least one line of values, it holds none"),
    "node_table_of_zeros": Attack(nodes(bytes(500)), "n.csv: is not a text file"),
    "node_table_that_is_a_spreadsheet": Attack(
        nodes(b"PK\x03\x04" + bytes(50), "n.xlsx"), "n.xlsx: is a zip archive or a spreadsheet; save the table as CSV"
    ),
    "node_table_that_is_not_utf8": Attack(
        nodes(b"node,a\n0,\xff\xfe\n"), "n.csv: line 2 must be UTF-8 text, it is not; save the file as UTF-8"
    ),
    "node_table_with_a_name_twice": Attack(
        nodes("node,a,a\n0,1,2\n"), "n.csv: column names must differ, got node, a, a"
    ),
    "node_table_with_an_id_twice": Attack(
        nodes("node,a\n0,1\n0,2\n1,3\n2,5\n"),
        "n.csv: rows of one id must be equal, id '0' has '1' and '2' in column a, rows 0 and 1",
    ),
    "node_table_without_ids": Attack(
        nodes("a,b\n1.5,2.5\n"), "n.csv: must have a column node, id, node_id or name, or --id-column; it has a, b"
    ),
    "node_table_with_rows_of_other_lengths": Attack(
        nodes("node,a\n0,1\n1,2,3,4\n"), "n.csv: line 3 must have 2 columns, got 4"
    ),
    "node_table_with_an_endless_quote": Attack(
        nodes('node,a\n0,"' + "x" * 100_000),
        "e.csv: column dst must hold ids of n.csv, got '1' in row 0, and 1 other rows",
    ),
    "node_table_of_deep_lists": Attack(
        nodes("[" * 100_000, "n.json"), "n.json: cannot be read: maximum recursion depth exceeded"
    ),
    "node_table_of_deep_objects": Attack(
        nodes('{"a":' * 100_000, "n.json"), "n.json: cannot be read: JSON parse error"
    ),
    "node_table_of_numbers_in_a_list": Attack(
        nodes("[1, 2]", "n.json"), "n.json: must hold an object in every line, or a list of objects"
    ),
    "node_table_that_is_a_bomb": Attack(inflating, "bytes, which looks like a zip bomb"),
    "node_table_that_is_a_device": Attack(device, "not a regular file: 'n.csv'"),
    "node_table_that_is_cut_feather": Attack(
        nodes(b"ARROW1\x00\x00" + bytes(60), "n.feather"), "n.feather: cannot be read: Not an Arrow file"
    ),
    "node_table_of_an_extension_type": Attack(
        parquet_nodes(lambda: {"node": [0, 1, 2], "a": foreign()}),
        "n.parquet: column 'a' must have a plain type, got the extension type",
    ),
    "node_table_of_infinite_numbers": Attack(
        nodes("node,a\n0,inf\n1,2\n2,3\n"), "n.csv: column a must hold finite numbers, row 0 does not"
    ),
    "node_table_of_numbers_beyond_float32": Attack(
        nodes("node,a\n0,1e300\n1,2\n2,3\n"), "n.csv: column a must hold numbers that fit float32, row 0 does not"
    ),
    "node_label_that_is_not_there": Attack(
        nodes(NODES, "n.csv", "--label", "kind"), "n.csv: must have a column 'kind', it has node, size, color"
    ),
    "node_split_of_unknown_words": Attack(
        nodes(NODES, "n.csv", "--split-column", "color"), "n.csv: split must be train, valid or test, got 'blue'"
    ),
    "node_time_that_is_no_time": Attack(
        nodes(NODES, "n.csv", "--time", "color", "--split", "60/20/20"),
        "n.csv: column color must hold dates or numbers to split by time, it does not",
    ),
    "edge_of_an_unknown_node": Attack(
        edges("src,dst\n0,1\n0,9\n"), "e.csv: column dst must hold ids of n.csv, got '9' in row 1, and 0 other rows"
    ),
    "edge_table_of_one_column": Attack(edges("src\n0\n1\n"), "e.csv: must have two columns of node ids, it has 1"),
    "edge_weight_of_text": Attack(
        edges("src,dst,weight\n0,1,heavy\n", "--weight", "weight"),
        "e.csv: column weight must hold a weight in every row, got 'heavy' in row 0",
    ),
    "edge_weight_below_zero": Attack(
        edges("src,dst,weight\n0,1,-1\n"), "e.csv: build_graph: weight must be finite and positive, got -1.0 in row 0"
    ),
    "plan_of_deep_lists": Attack(plan("a = " + "[" * 100_000), "p.toml: is not TOML: maximum recursion depth exceeded"),
    "plan_that_is_not_utf8": Attack(plan(b"\xff\xfe"), "p.toml: is not UTF-8"),
    "plan_of_an_unknown_kind": Attack(
        plan('[nodes.size]\nkind = "pickle"\n'),
        "p.toml: nodes.size.kind: Input should be 'number', 'boolean', 'category'",
    ),
    "plan_of_a_column_that_is_not_there": Attack(
        plan('[nodes.weight]\nkind = "number"\n'),
        "n.csv: must have a column 'weight', as the plan says, it has size, color",
    ),
    "plan_of_a_date_in_the_year_ten_thousand": Attack(
        plan('[nodes.size]\nkind = "date"\norigin = 1e300\n'),
        "p.toml: nodes.size.origin: Input should be less than 253402300800",
    ),
    "plan_of_a_date_without_a_form": Attack(
        plan('[nodes.color]\nkind = "date"\nformat = "%"\n'),
        "n.csv: column color must hold a date in every row, got 'red' in row 0",
    ),
    "plan_of_an_infinite_fill": Attack(
        plan('[nodes.size]\nkind = "number"\nfill = inf\n'), "p.toml: nodes.size.fill: Input should be a finite number"
    ),
    "plan_of_too_long_a_list": Attack(
        plan('[nodes.size]\nkind = "list"\nlength = 1000000000\n'),
        "p.toml: nodes.size.length: Input should be less than or equal to 65536",
    ),
    "plan_of_too_many_text_columns": Attack(
        plan('[nodes.color]\nkind = "text"\ncolumns = 1000000\n'),
        "p.toml: nodes.color.columns: Input should be less than or equal to 1024",
    ),
    "plan_of_words_that_are_no_base64": Attack(
        plan('[nodes.color]\nkind = "text"\ncolumns = 2\nwords = "*"\nnumbers = "*"\n'),
        "n.csv: column color: words and numbers must be as they were written: Only base64",
    ),
    "plan_of_words_without_numbers": Attack(
        texts(b"red\nblue", b""), "n.csv: column color: words and numbers must be as they were written: cannot reshape"
    ),
    "plan_of_words_that_are_a_bomb": Attack(
        texts(bytes(1 << 27), b""),
        "n.csv: column color: words and numbers must be as they were written: they end too early",
    ),
    "plan_of_numbers_that_are_none": Attack(
        texts(b"red", b"\x00\x00\xc0\x7f" * 3), "n.csv: column color: numbers must be finite, they are not"
    ),
    "plan_of_equal_column_names": Attack(
        plan('[nodes.size]\nkind = "number"\nmissing = true\n[nodes."size is missing"]\nkind = "number"\n'),
        "n.csv: must have a column 'size is missing', as the plan says, it has size, color",
    ),
    "append_of_a_node_that_is_there": Attack(
        appending("node,size,color\n1,2,red\n"), "m.csv: ids must be new, the graph has '1' already, row 0"
    ),
    "append_without_a_column": Attack(
        appending("node,color\n7,red\n"), "m.csv: must have a column 'size', it has node, color"
    ),
    "append_of_text_in_a_number": Attack(
        appending("node,size,color\n7,big,red\n"),
        "m.csv: column size must hold a number in every row, got 'big' in row 0",
    ),
    "append_of_edges_of_an_unknown_node": Attack(
        appending("", links="src,dst\n0,7\n"), "/g, got '7' in row 0, and 0 other rows; --unknown drop leaves them out"
    ),
    "append_of_deep_lists": Attack(
        appending("[" * 100_000, name="m.json"), "m.json: cannot be read: maximum recursion depth exceeded"
    ),
    "append_to_a_record_of_deep_lists": Attack(
        appending("node,size,color\n7,2,red\n", record=lambda text: "a = " + "[" * 100_000),
        "g/import.toml: is not TOML: maximum recursion depth exceeded",
    ),
    "append_to_a_record_of_another_width": Attack(
        appending("node,size,color\n7,2,red\n", record=lambda text: text.replace('"red"', '"red", "green"')),
        "g/import.toml: nodes must have 4 encoded columns, as in the graph, got 5",
    ),
    "append_to_a_record_without_columns": Attack(
        appending("node,size,color\n7,2,red\n", record=lambda text: ""),
        "g/import.toml: nodes must have 4 encoded columns, as in the graph, got 0",
    ),
    "append_to_a_record_of_a_foreign_type": Attack(
        appending("node,size,color\n7,2,red\n", record=lambda text: text.replace("[nodes.", "[roles.")),
        "g/import.toml: roles.size: Extra inputs are not permitted",
    ),
}

"""Files of tables: layouts of text, and faults in one line."""

import pytest

from shadow_gnn.base.errors import SourceError
from shadow_gnn.graph.importing.tables.files import read_edge_table, read_table


def read(tmp_path, data, name="t.csv", **options):
    (tmp_path / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    return read_table(tmp_path / name, **options).to_pydict()


def test_text_has_line_ends_in_quotes_a_mark_at_its_start_and_comments(tmp_path):
    data = b'\xef\xbb\xbfid,note\r\n1,"a\nb"\r\n2,"c ""d"""\r\n'
    assert read(tmp_path, data) == {"id": ["1", "2"], "note": ["a\nb", 'c "d"']}
    assert read(tmp_path, "# made by hand\nid\tv\n1\t\n", "t.tsv") == {"id": ["1"], "v": [""]}
    assert read(tmp_path, "id,v\n") == {"id": [], "v": []}


def test_numbers_between_semicolons_have_a_decimal_comma(tmp_path):
    found = read(tmp_path, "id;v;w;text\na;1,5;7;x, y\nb;-2,25;;z\nc;NA;1;\n")
    assert found["v"] == ["1.5", "-2.25", "NA"]
    assert found["text"] == ["x, y", "z", ""]
    assert read(tmp_path, 'id,v\na,"1,500"\n')["v"] == ["1,500"]


def test_a_header_of_edges_is_known_by_the_nodes(tmp_path):
    nodes = read_table_of(tmp_path, "id,team\nann,x\nbob,y\n")
    (tmp_path / "e.csv").write_text("who,whom\nann,bob\n")
    assert read_edge_table(tmp_path / "e.csv", nodes.columns).column_names == ["who", "whom"]
    (tmp_path / "e.csv").write_text("ann,bob\nbob,ann\n")
    assert read_edge_table(tmp_path / "e.csv", nodes.columns).to_pydict() == {"0": ["ann", "bob"], "1": ["bob", "ann"]}


def read_table_of(tmp_path, text):
    (tmp_path / "n.csv").write_text(text)
    return read_table(tmp_path / "n.csv", header=True)


@pytest.mark.parametrize(
    ("name", "data", "fault"),
    [
        ("t.csv", b'id,a\n1,"x\ny"\n2,3,4\n', "line 4 must have 2 columns, got 3"),
        ("t.csv", b"id,a\n1,M\xfcller\n", "line 2 must be UTF-8 text, it is not; save the file as UTF-8"),
        ("t.csv", b"", "at least one line of values"),
        ("t.csv", b"id,a,a\n1,2,3\n", "column names must differ"),
        ("t.xlsx", b"PK\x03\x04junk", "is a zip archive or a spreadsheet; save the table as CSV"),
        ("t.jsonl", b'{"id": 1, "a": 2}\n{"id": 2, "a": "x"}\n', "changed from number to string in row 1"),
        ("t.json", b'[{"id": 1}, 2]', "must hold an object in every line, or a list of objects"),
        ("t.json", b'[{"id": 1}, ', "cannot be read"),
        ("t.parquet", b"PAR1" + bytes(40), "is not a readable Parquet file"),
        ("t.feather", b"ARROW1" + bytes(40), "cannot be read"),
        ("t.csv.gz", b"\x1f\x8b" + bytes(40), "cannot be read"),
        ("t.csv.zst", b"\x28\xb5\x2f\xfd" + bytes(40), "cannot be read"),
    ],
)
def test_a_fault_is_one_line_that_names_the_file(tmp_path, name, data, fault):
    with pytest.raises(SourceError, match=fault) as caught:
        read(tmp_path, data, name)
    assert str(tmp_path / name) in str(caught.value)
    assert "\n" not in str(caught.value)

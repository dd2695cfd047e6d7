"""Download: a file is there whole or not at all, and an archive cannot write outside its folder."""

import http.server
import os
import threading
import zipfile

import pytest

from shadow_gnn.base.errors import SourceError
from shadow_gnn.base.files import silent
from shadow_gnn.graph.datasets.download import download, unpack
from shadow_gnn.graph.datasets.known_downloads import PINNED, RECORD, expected_checksum, record_checksum
from shadow_gnn.graph.datasets.named import source_of

CONTENT = bytes(range(256)) * 9000


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers as servers do, well and badly."""

    def do_GET(self):
        if self.path == "/missing":
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html" if self.path == "/page" else "application/zip")
        if self.path != "/unsized":
            self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        self.wfile.write(CONTENT[:5000] if self.path == "/short" else CONTENT)

    def log_message(self, *_):
        """Keep quiet."""


@pytest.fixture
def address():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("name", ["whole", "unsized"])
def test_a_file_is_brought_with_progress(tmp_path, address, name):
    seen = []
    # What an interrupted download left behind is no obstacle.
    (tmp_path / ".a.0123456789ab.shadow.tmp").write_bytes(b"half")
    download(f"{address}/{name}", tmp_path / "a", lambda *step: seen.append(step))
    assert (tmp_path / "a").read_bytes() == CONTENT
    assert seen[-1] == ("a, MB", 2, 0 if name == "unsized" else 2)
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("missing", "cannot be downloaded: Not Found"),
        ("page", "must give a file, it gives a web page"),
        ("short", r"must have 2304000 bytes, got 5000"),
    ],
)
def test_a_fault_is_one_line_and_leaves_nothing(tmp_path, address, name, fault):
    with pytest.raises(SourceError, match=fault):
        download(f"{address}/{name}", tmp_path / "a", silent)
    assert os.listdir(tmp_path) == []


def test_nobody_at_the_address(tmp_path):
    with pytest.raises(SourceError, match=r"http://127\.0\.0\.1:1/a: cannot be downloaded: .*refused"):
        download("http://127.0.0.1:1/a", tmp_path / "a", silent)


def test_an_archive_is_unpacked_without_its_outer_folder(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("arxiv/raw/edge.csv", "0,1\n")
        archive.writestr("arxiv/raw/kept.csv", "new")
        archive.writestr("arxiv/../../outside", "no")
        archive.writestr("lonely", "no")
    (tmp_path / "out" / "raw").mkdir(parents=True)
    (tmp_path / "out" / "raw" / "kept.csv").write_text("old")
    unpack(tmp_path / "a.zip", tmp_path / "out", silent)
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["a.zip", "edge.csv", "kept.csv"]
    assert (tmp_path / "out" / "raw" / "edge.csv").read_text() == "0,1\n"
    assert (tmp_path / "out" / "raw" / "kept.csv").read_text() == "old"


@pytest.mark.parametrize("cut", [True, False])
def test_a_damaged_archive_is_named(tmp_path, cut):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a/b", CONTENT)
    raw = bytearray((tmp_path / "a.zip").read_bytes())
    raw[2000] ^= 255
    (tmp_path / "a.zip").write_bytes(raw[:-30] if cut else raw)
    with pytest.raises(SourceError, match=r"a\.zip: is not a readable zip archive"):
        unpack(tmp_path / "a.zip", tmp_path / "out", silent)
    assert list((tmp_path / "out").rglob("*")) == []


def test_an_archive_that_inflates_beyond_belief_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a/b", bytes(150 << 20))
    with pytest.raises(SourceError, match="like a zip bomb"):
        unpack(tmp_path / "a.zip", tmp_path / "out", silent)


def test_a_file_other_than_the_expected_one_is_refused(tmp_path, address):
    import hashlib

    right = hashlib.sha256(CONTENT).hexdigest()
    assert download(f"{address}/whole", tmp_path / "a", silent) == right
    assert download(f"{address}/whole", tmp_path / "b", silent, expected=right) == right
    with pytest.raises(
        SourceError, match=rf"/whole: must give the file with SHA-256 {'0' * 64}, .* got another, {right}"
    ):
        download(f"{address}/whole", tmp_path / "c", silent, expected="0" * 64)
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def test_the_first_download_is_recorded_and_damage_of_the_record_is_found(tmp_path):
    assert expected_checksum("https://a/b", tmp_path) is None
    record_checksum("https://a/b", "1" * 64, tmp_path)
    record_checksum("https://a/c", "2" * 64, tmp_path)
    assert expected_checksum("https://a/b", tmp_path) == "1" * 64
    path = tmp_path / RECORD
    path.write_text(path.read_text().replace("1" * 64, "3" * 64))
    with pytest.raises(SourceError, match=r"downloads\.json: was edited or damaged"):
        expected_checksum("https://a/b", tmp_path)


@pytest.mark.parametrize("address", PINNED)
def test_pinned_files_are_those_of_datasets(tmp_path, address):
    record_checksum(address, "1" * 64, tmp_path)
    assert expected_checksum(address, tmp_path) == PINNED[address]
    assert len(PINNED[address]) == 64
    assert address in {
        place for name in ("ogbn-arxiv", "ogbn-products") for place in source_of(name).addresses().values()
    }

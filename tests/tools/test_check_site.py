"""check_site: a link, an anchor or a script that a reader without network would miss is named."""

from check_site import faults


def site(folder, body):
    (folder / "index.html").write_text(f"<html><body id='top'>{body}</body></html>")
    (folder / "other.html").write_text("<h1 id='there'>Other</h1>")
    (folder / "searchindex.js").write_text("")
    return folder


def test_sound_site_has_no_faults(tmp_path):
    body = "<a href='other.html#there'>a</a><a href='#top'>b</a><a href='https://example.org/x'>c</a>"
    assert faults(site(tmp_path, body)) == []


def test_each_fault_is_named(tmp_path):
    body = (
        "<a href='gone.html'>a</a><a href='other.html#gone'>b</a><img src='gone.png'>"
        "<script src='https://cdn.example.org/x.js'></script>"
    )
    assert faults(site(tmp_path, body)) == [
        "index.html: loads https://cdn.example.org/x.js",
        "index.html: gone.html leads nowhere",
        "index.html: other.html#gone has no such anchor",
        "index.html: gone.png leads nowhere",
    ]
    (tmp_path / "searchindex.js").unlink()
    assert "search" in faults(tmp_path)[-1]

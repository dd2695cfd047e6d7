"""check_wheels: a wheel that is too large, lacks a file or a license, or runs on one machine only is named."""

import tarfile
import zipfile

import check_wheels
import pytest

NAME = "shadow_gnn-0.2.0-cp311-cp311-manylinux_2_28_x86_64.whl"
INFO = "shadow_gnn-0.2.0."


def names():
    return {f"{INFO}{name}" if name.startswith("dist-info") else name: b"" for name in check_wheels.SHIPPED}


def wheel(folder, files, name=NAME):
    path = folder / name
    with zipfile.ZipFile(path, "w") as opened:
        for member, data in files.items():
            opened.writestr(member, data)
    return path


def fault(path):
    with pytest.raises(SystemExit) as ended:
        check_wheels.check_wheel(path)
    return ended.value.code


def test_sound_wheel_passes(tmp_path):
    check_wheels.check_wheel(wheel(tmp_path, names()))
    check_wheels.check_wheel(wheel(tmp_path, names(), NAME.replace("manylinux_2_28_x86_64", "macosx_11_0_arm64")))


def test_wheel_of_one_machine_is_refused(tmp_path):
    assert "must be a manylinux wheel" in fault(wheel(tmp_path, names(), NAME.replace("manylinux_2_28", "linux")))


@pytest.mark.parametrize("shipped", check_wheels.SHIPPED)
def test_missing_file_is_named(tmp_path, shipped):
    files = {name: data for name, data in names().items() if not name.endswith(shipped)}
    assert f"lacks {shipped}" in fault(wheel(tmp_path, files))


def test_size_has_a_limit(tmp_path):
    found = fault(wheel(tmp_path, names() | {"large": bytes(check_wheels.MOST_BYTES)}))
    assert "must have at most 5,000,000 bytes" in found


def test_large_script_needs_a_license(tmp_path):
    script = {"shadow_gnn/explore/static/other.js": bytes(check_wheels.MOST_SCRIPT_BYTES + 1)}
    assert "lacks the license of shadow_gnn/explore/static/other.js" in fault(wheel(tmp_path, names() | script))
    check_wheels.check_wheel(
        wheel(tmp_path, names() | script | {f"{INFO}dist-info/licenses/other.LICENSE.txt": b"MIT"})
    )


def test_stable_abi_is_audited(tmp_path, monkeypatch):
    called = []
    monkeypatch.setattr(check_wheels, "run", lambda *words: called.append(words))
    path = wheel(tmp_path, names(), NAME.replace("cp311-cp311", "cp312-abi3"))
    check_wheels.check_wheel(path)
    assert called == [("abi3audit", "--strict", str(path))]


def test_archive_without_the_core_is_refused(tmp_path):
    path = tmp_path / "shadow_gnn-0.2.0.tar.gz"
    (tmp_path / "file").write_text("")
    with tarfile.open(path, "w:gz") as opened:
        for name in (*check_wheels.NEEDED_TO_BUILD, "tests/test_x.py"):
            if name != "core/module.cpp":
                opened.add(tmp_path / "file", f"shadow_gnn-0.2.0/{name}")
    with pytest.raises(SystemExit, match=r"lacks \['core/module.cpp'\], has \['tests/test_x.py'\] too many"):
        check_wheels.check_archive(path)

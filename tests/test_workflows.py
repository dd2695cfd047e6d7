"""The workflows on GitHub: where wheels are built and tested, and what stands between a tag and the package index."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
PATHS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
# YAML reads the key `on` as true.
FLOWS = {path.stem: yaml.safe_load(path.read_text()) for path in PATHS}
JOBS = {f"{flow}/{name}": job for flow, found in FLOWS.items() for name, job in found["jobs"].items()}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SYSTEMS = ["ubuntu-24.04", "ubuntu-24.04-arm", "macos-14"]


def commands(job):
    return "\n".join(step.get("run", "") for step in job["steps"])


def test_there_are_three_workflows():
    assert set(FLOWS) == {"docs", "release", "test"}


@pytest.mark.parametrize("name", JOBS)
def test_job_ends_and_has_no_more_rights_than_it_needs(name):
    job = JOBS[name]
    assert job["timeout-minutes"] <= 90
    assert FLOWS[name.partition("/")[0]]["permissions"] == {"contents": "read"}
    assert ("permissions" in job) == name.endswith("/publish")
    for step in job["steps"]:
        if step.get("uses", "").startswith("actions/checkout"):
            assert step["with"] == {"persist-credentials": False}


def test_wheels_and_tests_cover_the_same_systems_and_every_python_of_the_metadata():
    assert JOBS["release/wheels"]["strategy"]["matrix"]["os"] == SYSTEMS
    matrix = JOBS["test/test"]["strategy"]["matrix"]
    assert matrix["os"] == SYSTEMS
    listed = [
        re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", text) for text in PROJECT["project"]["classifiers"]
    ]
    assert matrix["python"] == [found[1] for found in listed if found]


def test_a_tag_publishes_what_was_checked_without_a_password():
    assert FLOWS["release"][True]["push"] == {"tags": ["v*"]}
    publish, check = JOBS["release/publish"], JOBS["release/check"]
    assert publish["if"] == "startsWith(github.ref, 'refs/tags/v')"
    assert (publish["needs"], check["needs"]) == ("check", ["wheels", "source"])
    assert publish["permissions"] == {"id-token": "write"}
    assert "tools/check_wheels.py dist" in commands(check)
    assert "secrets." not in (ROOT / ".github" / "workflows" / "release.yml").read_text()


@pytest.mark.parametrize(("ref", "same"), [(PROJECT["project"]["version"], 0), ("9.9.9", 1)])
def test_a_tag_must_be_the_version(ref, same):
    (line,) = [step["run"] for step in JOBS["release/source"]["steps"] if "grep" in step.get("run", "")]
    done = subprocess.run(["bash", "-c", line], cwd=ROOT, env={"GITHUB_REF_NAME": f"v{ref}", "PATH": "/usr/bin:/bin"})
    assert done.returncode == same


def test_make_targets_that_jobs_call_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    called = {name for job in JOBS.values() for name in re.findall(r"^make ([a-z-]+)$", commands(job), re.MULTILINE)}
    assert called == {"docs", "test-lowest"}
    assert called <= targets

"""The files that a project shows to the world: license, citation, metadata, templates of issues."""

import re
import tomllib
from importlib.metadata import metadata
from pathlib import Path

import pytest
import yaml

import shadow_gnn

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text())
TEMPLATES = ROOT / ".github" / "ISSUE_TEMPLATE"

# https://docs.github.com/en/communities/using-templates-to-encourage-useful-issues-and-pull-requests
ELEMENTS = {"markdown", "textarea", "input", "dropdown", "checkboxes"}


def test_license_is_the_one_that_pyproject_names():
    assert PROJECT["license"] == "MIT"
    assert PROJECT["license-files"] == ["LICENSE", "src/shadow_gnn/explore/static/cytoscape.LICENSE.txt"]
    first, _, owner = (ROOT / "LICENSE").read_text().split("\n")[:3]
    assert (first, owner) == ("MIT License", "Copyright (c) 2026 The shadow-gnn authors")


def test_vendored_code_comes_with_its_license_which_is_the_same():
    text = (ROOT / PROJECT["license-files"][1]).read_text()
    assert text.startswith("Copyright (c) 2016-2026, The Cytoscape Consortium.")
    assert "Permission is hereby granted, free of charge" in text


def test_installed_metadata_has_the_license_and_the_urls():
    installed = metadata("shadow-gnn")
    assert installed["License-Expression"] == PROJECT["license"]
    assert installed.get_all("License-File") == PROJECT["license-files"]
    assert installed.get_all("Project-URL") == [f"{name}, {url}" for name, url in PROJECT["urls"].items()]


def test_classifiers_leave_the_license_to_its_field():
    assert PROJECT["classifiers"] == sorted(set(PROJECT["classifiers"]))
    # PEP 639: a build fails where a classifier repeats the license.
    assert not any(classifier.startswith("License ::") for classifier in PROJECT["classifiers"])
    least = PROJECT["requires-python"].removeprefix(">=")
    assert f"Programming Language :: Python :: {least}" in PROJECT["classifiers"]


def test_every_file_has_the_same_version():
    assert PROJECT["version"] == shadow_gnn.__version__ == str(CITATION["version"])


def test_changelog_is_in_the_form_of_keep_a_changelog():
    text = (ROOT / "CHANGELOG.md").read_text()
    releases = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert re.fullmatch(rf"\[{re.escape(PROJECT['version'])}\] - (unreleased|\d{{4}}-\d\d-\d\d)", releases[0])
    assert len(set(releases)) == len(releases)
    # https://keepachangelog.com/en/1.1.0/
    kinds = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall(r"^### (.*)$", text, re.MULTILINE)) <= kinds
    for release in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        assert re.match(r".*\n\n### ", release), release[:40]
        found = re.findall(r"^### (.*)$", release, re.MULTILINE)
        assert len(set(found)) == len(found), release[:40]


def test_lower_bounds_are_the_versions_that_were_tried():
    lines = (ROOT / "constraints-lowest.txt").read_text().splitlines()
    tried = dict(line.split("==") for line in lines if not line.startswith("#"))
    bounds = dict(text.split(">=") for text in PROJECT["dependencies"])
    assert set(tried) == set(bounds)
    for name, version in tried.items():
        assert re.sub(r"(\.0)+$", "", version) == re.sub(r"(\.0)+$", "", bounds[name]), name


def test_citation_has_what_its_format_needs():
    assert CITATION["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= set(CITATION)
    assert (CITATION["type"], CITATION["license"]) == ("software", PROJECT["license"])
    assert CITATION["repository-code"] == PROJECT["urls"]["Homepage"]


def test_citation_prefers_the_paper():
    paper = CITATION["preferred-citation"]
    assert paper["type"] == "conference-paper"
    assert paper["title"] == "Decoupling the Depth and Scope of Graph Neural Networks"
    assert (paper["year"], paper["url"]) == (2021, PROJECT["urls"]["Paper"])
    names = [f"{author['given-names']} {author['family-names']}" for author in paper["authors"]]
    assert names[0] == "Hanqing Zeng"
    assert len(set(names)) == 9


@pytest.mark.parametrize("name", ["bug.yml", "feature.yml"])
def test_issue_form_has_what_github_needs(name):
    form = yaml.safe_load((TEMPLATES / name).read_text())
    assert all(isinstance(form[key], str) and form[key] for key in ("name", "description", "title"))
    assert all(isinstance(label, str) for label in form["labels"])
    asked = [element for element in form["body"] if element["type"] != "markdown"]
    assert {element["type"] for element in form["body"]} <= ELEMENTS
    assert all(re.fullmatch(r"[\w-]+", element["id"]) and element["attributes"]["label"] for element in asked)
    assert len({element["id"] for element in asked}) == len({e["attributes"]["label"] for e in asked}) == len(asked)
    assert any(element.get("validations", {}).get("required") for element in asked)


def test_issue_chooser_links_lead_to_the_project():
    chooser = yaml.safe_load((TEMPLATES / "config.yml").read_text())
    assert isinstance(chooser["blank_issues_enabled"], bool)
    for link in chooser["contact_links"]:
        assert set(link) == {"name", "url", "about"}
        assert link["url"].startswith(PROJECT["urls"]["Homepage"])


def test_every_issue_template_is_tested():
    assert {path.name for path in TEMPLATES.iterdir()} == {"bug.yml", "feature.yml", "config.yml"}


def test_pull_request_template_names_commands_that_exist():
    text = (ROOT / ".github" / "pull_request_template.md").read_text()
    commands = re.findall(r"`make ([a-z-]+)`", text)
    targets = re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert {"test", "lint"} <= set(commands) <= set(targets)


def test_the_index_of_the_docs_lists_every_page_once():
    listed = re.findall(r"^([a-z][a-z-]*)$", (ROOT / "docs" / "index.md").read_text(), re.MULTILINE)
    pages = {page.stem for page in (ROOT / "docs").glob("*.md")} - {"index", "benchmarks-recorded"}
    assert sorted(listed) == sorted(pages)

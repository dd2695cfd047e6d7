"""The readers of the study graphs, on sources small enough to read."""

from collections import Counter

import build_debian_teams_graph as teams
import build_linux_calls_graph as linux
import build_perl_namespaces_graph as perl
import build_python_roles_graph as roles
import build_thesaurus_origins_graph as origins
import build_webster_fields_graph as fields
import pytest
import webster

SOURCES = """\
Package: alpha
Binary: alpha, libalpha1
Maintainer: Debian Perl Group <pkg-perl-maintainers@lists.example>
Build-Depends: debhelper (>= 9), libbeta-dev [amd64]

Package: beta
Binary: libbeta-dev
Maintainer: Jane Doe <jane@example.org>
Build-Depends: debhelper
Build-Depends-Indep: libbeta-dev, nowhere

Package: debhelper
Binary: debhelper
Maintainer: Debhelper Maintainers <debhelper@packages.example>
"""
DICTIONARY = """\

Abdomen \\Ab*do"men\\, n. [L. abdomen [root]16.]
   1. (Anat.) The belly of a fish. See {Belly}.
      [1913 Webster]

   2. (Anat. & Zo["o]l.) The hind part.
      [1913 Webster]

   Syn: stomach of wordnet.
        [WordNet 1.5]

Belly \\Bel"ly\\, n. [OE. bali, AS. belg.]
   The part with bowels; the abdomen.
   [1913 Webster]

Bowels \\Bow"els\\ n.
   only from wordnet
   [WordNet 1.5]
"""
KERNEL = """\
#include <x.h>

/* Reads a small buffer. */
static int fooReadBuf(struct foo *f,
		size_t len)
{
	if (len)
		return helper(f);
	return other_file(f);
}

void helper(struct foo *f)
{
	twice(f);
}

int declared(int a);
"""
PYTHON = b'''"""Shared helpers."""
import os.path
from . import errors
from .sub.deep import thing as other
from pkg.errors import FooError


def readFile(path_name):
    return other(path_name).first_line
'''
PERL = """\
package Net::Foo;
use strict;
use parent qw(Net::Base Exporter);
use Net::Bar 1.2 ();

=head1 NAME

Net::Foo - opens sockets

=cut

sub send_all { require Net::Late; }
1;
__END__

use Net::Never;

=head1 DESCRIPTION

More about sockets.
"""


@pytest.mark.parametrize(
    ("maintainer", "team"),
    [
        ("Debian Perl Group <pkg-perl-maintainers@lists.one>", "perl"),
        ("Debian Go Packaging Team <team+pkg-go@tracker.one>", "go"),
        ("pkg-go <pkg-go-maintainers@lists.two>", "go"),
        ("Jane Doe <jane@example.org>", None),
        ("Debian QA Group <packages@qa.example>", None),
    ],
)
def test_teams_have_one_name_and_persons_none(maintainer, team):
    assert teams.team_of(maintainer) == team


def test_build_edges_join_sources_but_not_to_what_all_need(monkeypatch):
    sources = teams.read_sources(SOURCES)
    assert [source.name for source in sources] == ["alpha", "beta", "debhelper"]
    monkeypatch.setattr(teams, "MAX_USERS", 0.5)
    assert teams.build_edges(sources).tolist() == [[0, 1]]


def test_team_text_has_neither_names_of_packages_nor_of_teams():
    source = teams.read_sources(SOURCES)[0]
    text = {"alpha": "alpha is a perl tool\nshared line", "libalpha1": "libalpha1 for perl\nshared line"}
    hidden = teams.words_of_teams(["perl", "input-method"])
    assert teams.words_of(source, text, hidden) == ["is", "a", "tool", "shared", "line", "for"]


def test_dictionary_leaves_wordnet_out():
    found = webster.entries(DICTIONARY)
    assert [entry.name for entry in found] == ["abdomen", "belly"]
    assert "wordnet" not in found[0].text
    assert found[0].references == ("belly",)


def test_fields_are_labels_and_not_words():
    abdomen, belly = webster.entries(DICTIONARY)
    assert fields.fields_of(abdomen) == {"Anat", "Zool"}
    assert fields.fields_of(belly) == set()
    assert not {"anat", "zool", "abdomen"} & set(fields.words_of(abdomen))


def test_definition_edges_leave_frequent_words_out_but_keep_references(monkeypatch):
    entries = webster.entries(DICTIONARY)
    bags = [fields.words_of(entry) for entry in entries]
    assert fields.definition_edges(entries, bags).tolist() == [[0, 1], [1, 0]]
    monkeypatch.setattr(fields, "MAX_USERS", 0)
    assert fields.definition_edges(entries, bags).tolist() == [[0, 1]]


def test_origin_is_the_first_language_and_not_in_the_words():
    abdomen, belly = webster.entries(DICTIONARY)
    assert (origins.origin_of(abdomen), origins.origin_of(belly)) == ("Latin", "Anglo-Saxon")
    words = origins.words_of(abdomen)
    assert not {"l", "root", "anat"} & set(words)
    assert words[:3] == ["<ab", "abd", "bdo"]


def test_synonym_edges_join_known_words_only():
    rows = origins.synonyms("Big,large,huge\nhuge,big\n")
    assert origins.synonym_edges({"big": 0, "huge": 1}, rows).tolist() == [[0, 1], [1, 0]]


def test_functions_are_found_with_parameters_comments_and_calls():
    found = list(linux.functions_of("net/x.c", KERNEL))
    assert [(one.name, one.static) for one in found] == [("fooReadBuf", True), ("helper", False)]
    assert linux.words_of(found[0])[:6] == ["foo", "read", "buf", "struct", "foo", "f"]
    assert "small" in linux.words_of(found[0])
    assert {"helper", "other_file"} <= found[0].calls


def test_calls_lead_to_the_own_file_first_and_never_to_two_functions():
    def function(path, name, static, *calls):
        return linux.Function(path, name, static, "", frozenset(calls))

    functions = [
        function("a.c", "f", True, "g", "h", "twice", "hidden"),
        function("a.c", "g", True),
        function("b.c", "g", False),
        function("b.c", "h", False),
        function("b.c", "hidden", True),
        function("b.c", "twice", False),
        function("c.c", "twice", False),
    ]
    assert linux.call_edges(functions).tolist() == [[0, 1], [0, 3]]


def test_subsystem_is_one_folder_but_two_below_drivers():
    paths = ("fs/ext4/inode.c", "drivers/net/phy/x.c", "drivers/x.c")
    assert [linux.subsystem_of(path) for path in paths] == ["fs", "drivers/net", "drivers"]


def test_module_has_words_without_imports_and_own_name():
    module = roles.parsed(roles.FOLDER + "pkg/helpers.py", PYTHON)
    assert (module.name, module.is_package) == ("pkg.helpers", False)
    assert module.imports == ("os.path", "pkg.errors", "pkg.sub.deep.thing", "pkg.errors.FooError")
    assert module.words == Counter(["shared", "read", "file", "path", "name", "other", "path", "name", "first", "line"])
    assert roles.parsed(roles.FOLDER + "pkg/old.py", b"print 'two'") is None


def test_relative_imports_of_a_package_start_at_itself():
    package = roles.parsed(roles.FOLDER + "pkg/sub/__init__.py", b"from .deep import a\nfrom .. import b")
    assert package.name == "pkg.sub"
    assert package.imports == ("pkg.sub.deep.a", "pkg.b")


def test_import_edges_lead_to_modules():
    modules = [
        roles.Module("pkg", True, Counter(), ("pkg.a.thing",)),
        roles.Module("pkg.a", False, Counter(), ("pkg", "os")),
    ]
    assert roles.import_edges(modules).tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("name", "role"),
    [("a._util", "utils"), ("a.errors", "exceptions"), ("a.0001_first", "migrations"), ("a.test_x", None)],
)
def test_roles_have_one_name_and_tests_none(name, role):
    assert roles.role_of(roles.Module(name, False, Counter(), ())) == role


def test_perl_module_has_words_without_module_names_and_code_after_the_end():
    module = perl.parsed(perl.FOLDER + "Net/Foo.pm", "libnet-foo-perl", PERL)
    assert module.name == "Net::Foo"
    assert {"Net::Base", "Exporter", "Net::Bar"} <= module.uses
    assert "Net::Never" not in module.uses
    assert module.words == Counter(
        ["name", "opens", "sockets", "description", "more", "about", "sockets", "send", "all"]
    )


def test_words_of_namespaces_are_hidden_whole_and_in_parts():
    assert perl.words_of_names(["DateTime"]) == {"datetime", "date", "time"}
    assert perl.without(Counter(["date", "sun"]), frozenset({"date"})) == Counter(["sun"])

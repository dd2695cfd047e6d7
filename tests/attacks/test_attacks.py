"""Hostile inputs: each is refused in one line, in about no time and little memory."""

import json
import os
import subprocess
import sys

import pytest
from tests.attacks.attempt import GROUPS, Outcome, attacks_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def test_every_attack_is_refused_in_one_line(tmp_path):
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    command = [
        sys.executable,
        "-W",
        "ignore::DeprecationWarning",
        "-m",
        "tests.attacks.attempt",
        str(tmp_path),
        *GROUPS,
    ]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    faults = {}
    for group in GROUPS:
        attacks, ends = attacks_of(group), {name: Outcome(**end) for name, end in found[group].items()}
        assert ends.keys() == attacks.keys()
        faults |= {name: fault for name, attack in attacks.items() if (fault := ends[name].fault(attack))}
    assert faults == {}


def test_there_are_many_attacks():
    names = [name for group in GROUPS for name in attacks_of(group)]
    assert len(names) == len(set(names)) >= 40


def test_an_accepted_or_expensive_attack_is_a_fault():
    attack = attacks_of("core_calls")["column_count_that_wraps"]
    good = "SparseFeatures: num_columns must be from 0 to below 2^31, got 2305843009213693952"
    assert Outcome(good, True, 0.1, 1).fault(attack) is None
    assert Outcome(good, False, 0.1, 1).fault(attack) is not None
    assert Outcome("accepted: None", True, 0.1, 1).fault(attack) is not None
    assert Outcome(good, True, 9, 1).fault(attack) is not None
    assert Outcome(good, True, 0.1, 900).fault(attack) is not None

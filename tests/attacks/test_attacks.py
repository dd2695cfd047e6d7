"""Hostile inputs: each is refused in one line, in about no time and little memory."""

import json
import os
import subprocess
import sys

import pytest
from tests.attacks.attempt import GROUPS, Outcome, attacks_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.mark.parametrize("group", GROUPS)
def test_every_attack_is_refused_in_one_line(group, tmp_path):
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-m", "tests.attacks.attempt", group, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    ends = {name: Outcome(**end) for name, end in json.loads(done.stdout.splitlines()[-1]).items()}
    attacks = attacks_of(group)
    assert ends.keys() == attacks.keys()
    faults = {name: fault for name, attack in attacks.items() if (fault := ends[name].fault(attack))}
    assert faults == {}


def test_there_are_many_attacks():
    assert sum(len(attacks_of(group)) for group in GROUPS) >= 40


def test_an_accepted_or_expensive_attack_is_a_fault():
    attack = attacks_of("core_calls")["column_count_that_wraps"]
    good = "SparseFeatures: num_columns must be from 0 to below 2^31, got 2305843009213693952"
    assert Outcome(good, True, 0.1, 1).fault(attack) is None
    assert Outcome(good, False, 0.1, 1).fault(attack) is not None
    assert Outcome("accepted: None", True, 0.1, 1).fault(attack) is not None
    assert Outcome(good, True, 9, 1).fault(attack) is not None
    assert Outcome(good, True, 0.1, 900).fault(attack) is not None

"""Studies without training: which values come next, what is pruned, and what an interruption leaves."""

import shutil
import sys

import pytest
from tests.communities import small_recipe

from shadow_gnn.base.errors import RunError, ShadowError
from shadow_gnn.recipe.file import write_recipe
from shadow_gnn.studies.tune.space import Choices, Range, Space
from shadow_gnn.studies.tune.study import Plan, Study, prepare_folder

pytest.importorskip("optuna")

SPACE = Space({"model.dropout": Choices((0.2, 0.4, 0.6)), "training.batch_size": Choices((16, 32))})


@pytest.fixture
def plan(tmp_path):
    path = tmp_path / "recipe.toml"
    path.write_text(write_recipe(small_recipe()))
    return lambda **changes: Plan(
        **{"recipe": path, "overrides": (), "space": SPACE, "fingerprint": "a", "content": None, **changes}
    )


@pytest.fixture
def study(tmp_path, plan):
    """Return what opens a study, as a new process would."""
    opened = []

    def open_study(num_trials=20, num_epochs=10, seed=0, **changes):
        for other in opened:
            other.close()
        prepare_folder(tmp_path / "study", plan(**changes))
        opened.append(Study(tmp_path / "study", plan(**changes), num_trials, num_epochs=num_epochs, seed=seed))
        return opened[-1]

    yield open_study
    opened[-1].close()


def finish_all(study, score=lambda values: values["model.dropout"]):
    """Finish trials until there are no more; return their values in order."""
    found = []
    while (trial := study.next()) is not None:
        study.finish(trial.number, score(trial.values))
        found.append(trial.values)
    return found


def test_values_of_the_recipe_itself_come_first(study):
    assert study().next().values == {"model.dropout": 0.2, "training.batch_size": 16}


def test_values_of_the_recipe_come_first_in_a_range_that_cannot_be_counted(study):
    space = Space({"training.learning_rate": Range(1e-4, 0.1, log=True)})
    assert study(space=space).next().values == {"training.learning_rate": 0.01}


@pytest.mark.parametrize("sampler", ["tpe", "random"])
def test_every_combination_is_tried_once_and_none_twice(study, sampler):
    found = finish_all(study(num_trials=100, sampler=sampler))
    assert len(found) == SPACE.size == 6
    assert sorted(map(repr, found)) == sorted(map(repr, SPACE.combinations()))


def test_no_more_trials_are_begun_than_were_asked_for(study):
    assert len(finish_all(study(num_trials=4))) == 4
    assert study(num_trials=4).next() is None
    assert len(finish_all(study(num_trials=5))) == 1


def test_values_do_not_depend_on_interruptions(study, tmp_path):
    space = Space({"model.dropout": Range(0.0, 0.9), "training.batch_size": Range(1, 64)})
    whole = finish_all(study(num_trials=13, space=space))
    (tmp_path / "study").rename(tmp_path / "other")
    parts = []
    for count in (4, 11, 13):
        parts += finish_all(study(num_trials=count, space=space))
    assert parts == whole


def test_another_seed_draws_other_values(study, tmp_path):
    space = Space({"model.dropout": Range(0.0, 0.9)})
    first = finish_all(study(num_trials=4, space=space))
    (tmp_path / "study").rename(tmp_path / "other")
    assert finish_all(study(num_trials=4, space=space, seed=1))[1:] != first[1:]


def test_a_trial_that_was_running_goes_on_with_its_number_values_and_scores(study):
    first = study()
    trial = first.next()
    first.report(trial.number, [(1, 0.3), (2, 0.4)])
    again = study().next()
    assert (again.number, again.values) == (trial.number, trial.values)
    assert again.scores == ((1, 0.3), (2, 0.4))
    after = study()
    assert after.next().number == trial.number
    assert not after.report(trial.number, [(1, 0.3), (2, 0.4), (3, 0.5)])
    after.finish(trial.number, 0.5)
    assert [(found.state, found.score) for found in after.trials()] == [("finished", 0.5)]
    assert after.trials()[0].scores == ((1, 0.3), (2, 0.4), (3, 0.5))


def test_a_trial_whose_values_were_not_written_is_not_shown_and_starts_with_them_later(study):
    first = study()
    first._study.ask({})
    assert first.trials() == []
    assert study().next().values == {"model.dropout": 0.2, "training.batch_size": 16}


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.parametrize(
    "space",
    [Space({"model.dropout": Choices((0.2, 0.4))}), pytest.param(SPACE, marks=pytest.mark.slow)],
    ids=["small", "large"],
)
def test_a_kill_at_any_commit_changes_neither_values_nor_numbers(study, monkeypatch, tmp_path, space):
    from sqlalchemy.orm import Session

    def trials(at=0):
        """Finish four trials; the process ends at a commit to the database, and another one continues."""
        left, found = at, {}

        def commit(self):
            nonlocal left
            left -= 1
            if left == 0:
                raise Killed
            original(self)

        monkeypatch.setattr(Session, "commit", commit)
        while True:
            try:
                opened = study(num_trials=4, space=space)
                while (trial := opened.next()) is not None:
                    found[trial.number] = trial.values
                    opened.finish(trial.number, trial.values["model.dropout"])
                shutil.rmtree(tmp_path / "study")
                return found, left > 0
            except Killed:
                continue

    original = Session.commit
    whole, _ = trials()
    at, ended = 0, False
    while not ended:
        at += 1
        found, ended = trials(at)
        assert found == whole, at
    assert at > 10


def test_a_trial_worse_than_the_median_is_pruned_and_a_better_one_is_not(study):
    space = Space({"model.dropout": Range(0.0, 0.9)})
    found = study(space=space)
    for _ in range(5):
        trial = found.next()
        assert not found.report(trial.number, [(epoch, 0.5) for epoch in range(1, 11)])
        found.finish(trial.number, 0.5)
    bad, good = found.next(), found.next()
    assert not found.report(bad.number, [(1, 0.1), (2, 0.1)])  # The first fifth of the epochs says too little.
    assert found.report(bad.number, [(1, 0.1), (2, 0.1), (3, 0.1)])
    assert not found.report(good.number, [(1, 0.6), (2, 0.6), (3, 0.6)])
    found.prune(bad.number)
    assert found.trials()[bad.number].state == "pruned"
    assert found.trials()[bad.number].score is None
    assert found.trials()[bad.number].best_so_far == 0.1


def test_hyperband_prunes_and_none_never_does(study, tmp_path):
    def num_pruned(pruner: str) -> int:
        found = study(num_trials=12, num_epochs=9, pruner=pruner, space=Space({"model.dropout": Range(0.0, 0.9)}))
        count = 0
        while (trial := found.next()) is not None:
            scores, pruned = [], False
            for epoch in (1, 3, 9):
                scores.append((epoch, 1 - trial.values["model.dropout"]))
                pruned = found.report(trial.number, scores)
                if pruned:
                    break
            found.prune(trial.number) if pruned else found.finish(trial.number, scores[-1][1])
            count += pruned
        (tmp_path / "study").rename(tmp_path / pruner)
        return count

    assert num_pruned("hyperband") > 1
    assert num_pruned("none") == 0


def test_a_failed_trial_counts_and_is_not_tried_again(study):
    found = study(num_trials=100)
    trial = found.next()
    found.fail(trial.number, "loss must be finite")
    undefined = found.next()
    found.finish(undefined.number, float("nan"))
    assert [(other.state, other.fault) for other in found.trials()] == [
        ("failed", "loss must be finite"),
        ("failed", "its validation metric is not defined"),
    ]
    assert trial.values not in finish_all(study(num_trials=100))


def test_another_plan_is_refused_with_what_differs(study, plan, tmp_path):
    study()
    with pytest.raises(RunError, match=r"is a study with another sampler, pruner; .*--out"):
        prepare_folder(tmp_path / "study", plan(sampler="random", pruner="none"))
    with pytest.raises(RunError, match="another space"):
        prepare_folder(tmp_path / "study", plan(space=Space({"model.dropout": Choices((0.1,))})))
    (tmp_path / "recipe.toml").write_text(write_recipe(small_recipe(training__num_epochs=4)))
    with pytest.raises(RunError, match="another recipe"):
        prepare_folder(tmp_path / "study", plan())
    (tmp_path / "empty").mkdir()
    with pytest.raises(RunError, match="is not a study"):
        prepare_folder(tmp_path / "empty", plan())


def test_without_optuna_one_line_names_the_extra(study, plan, tmp_path, monkeypatch):
    study()
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ShadowError, match=r"^tune: needs the package optuna; .* pip install 'shadow-gnn\[tune\]'$"):
        Study(tmp_path / "study", plan(), 1, num_epochs=1, seed=0)

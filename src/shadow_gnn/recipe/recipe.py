"""Recipe: the complete settings of a run, and the checks between its tables; field docstrings are the help.

Not for: files (file.py), or turning names into classes (training/build.py).
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, model_validator

from shadow_gnn.recipe.extractor_table import ExtractorField
from shadow_gnn.recipe.model import BranchRecipe, InputsRecipe, ModelRecipe
from shadow_gnn.recipe.record import Record
from shadow_gnn.recipe.task import LinkRecipe, TaskRecipe
from shadow_gnn.recipe.training import JointRecipe, LoggingRecipe, NeighborRecipe, SaintRecipe, TrainingRecipe

COMMON_KEYS = ("hidden_dim", "head", "ensemble", "share_weights", "standardize")
"""Keys of [model] that cannot differ between branches."""

EXTRACTOR_TWICE = "extractor: must be left out with branches, which have an extractor each"

AFTER_WARM_START = {"num_epochs": 4, "learning_rate": 0.0005, "schedule": "cosine"}
"""Defaults of [training] with a warm start: weights that are trained already need few small steps."""

METHOD_TABLES: dict[str, type[Record]] = {"saint": SaintRecipe, "neighbor": NeighborRecipe, "joint": JointRecipe}
"""Tables that only one method reads."""

NORMAL_METHODS = ("full", "saint", "neighbor")
"""Methods that train a normal GNN, without scopes."""
JOINED_METHODS = (*NORMAL_METHODS, "joint")
"""Methods whose targets share the graph of a batch."""


class Recipe(Record):
    """The complete settings of a run.

    >>> recipe = sg.Recipe(graph="ring", model=sg.ModelRecipe(num_layers=5))
    >>> recipe.model.num_layers, recipe.extractor.topk
    (5, 200)
    """

    graph: Annotated[str, Field(min_length=1, max_length=4096)]
    """Graph folder, or the name of a built-in graph or of a dataset from `shadow data get`."""
    seed: Annotated[int, Field(ge=0, lt=2**53)] = 0
    """Random seed of weights, shuffling, drawn scopes and dropout."""
    task: TaskRecipe = TaskRecipe()
    """Kind of prediction."""
    link: LinkRecipe = LinkRecipe()
    """Links to predict."""
    extractor: ExtractorField | None = None
    """Extractor of the scopes; ppr with its defaults if neither this nor branches are set."""
    branches: Annotated[tuple[BranchRecipe, ...], Field(strict=False, max_length=16)] = ()
    """Several extractors, each with its network, whose embeddings are joined."""
    inputs: InputsRecipe = InputsRecipe()
    """Inputs in addition to the features."""
    model: ModelRecipe = ModelRecipe()
    """The network."""
    training: TrainingRecipe = TrainingRecipe()
    """How it is trained; training = "full" is short for a table with only that method."""
    saint: SaintRecipe = SaintRecipe()
    """Subgraphs of GraphSAINT."""
    neighbor: NeighborRecipe = NeighborRecipe()
    """Drawn neighbors."""
    joint: JointRecipe = JointRecipe()
    """Merged scopes."""
    logging: LoggingRecipe = LoggingRecipe()
    """Where metrics go."""

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, value: Any) -> Any:
        """Complete a table: default extractor and encoding, and the keys of [model] for each branch."""
        if not isinstance(value, dict):
            return value
        filled = dict(value)
        if isinstance(filled.get("training"), str):
            filled["training"] = {"method": filled["training"]}
        if isinstance(training := filled.get("training"), dict) and training.get("warm_start", "none") != "none":
            filled["training"] = {**AFTER_WARM_START, **training}
        method = _method(filled.get("training"))
        if method in JOINED_METHODS and isinstance(model := filled.get("model", {}), dict):
            filled["model"] = {"encoding": "none", **model}
        if method not in NORMAL_METHODS and not filled.get("branches") and filled.get("extractor") is None:
            filled["extractor"] = {}
        common, branches = filled.get("model", {}), filled.get("branches")
        if isinstance(branches, (list, tuple)):
            filled["branches"] = [_with_model(branch, common) for branch in branches]
        return filled

    @model_validator(mode="after")
    def _check_branches(self) -> Recipe:
        if self.branches and self.extractor is not None:
            raise ValueError(EXTRACTOR_TWICE)
        for number, branch in enumerate(self.branches):
            for name in COMMON_KEYS:
                if getattr(branch.model, name, None) != getattr(self.model, name):
                    raise ValueError(f"branches.{number}.model.{name}: must be set in [model], for all branches alike")
        return self

    @model_validator(mode="after")
    def _check_method(self) -> Recipe:
        method, warm = self.training.method, self.training.warm_start
        for name, record in METHOD_TABLES.items():
            if name not in (method, warm) and getattr(self, name) != record():
                raise ValueError(f'{name}: must be left out unless training.method is "{name}", it is "{method}"')
        if method not in JOINED_METHODS:
            return self
        if warm != "none":
            raise ValueError(f'training.warm_start: must be left out for training.method "{method}", without scopes')
        if self.branches:
            raise ValueError(f'branches: must be left out for training.method "{method}", which has one graph')
        if self.is_normal and self.extractor is not None:
            raise ValueError(f'extractor: must be left out for training.method "{method}", which has no scopes')
        if self.model.encoding != "none":
            raise ValueError(
                f'model.encoding: must be "none" for training.method "{method}", whose targets share one graph'
            )
        self._check_normal(f'training.method "{method}"', method)
        return self

    @model_validator(mode="after")
    def _check_start(self) -> Recipe:
        """Refuse a warm start whose weights would not fit the model on scopes."""
        warm = self.training.warm_start
        if warm == "none":
            return self
        place = f'training.warm_start "{warm}"'
        if self.training.init is not None:
            raise ValueError(f"training.init: must be left out for {place}, which trains the first weights itself")
        if self.branches or self.task.kind == "link":
            raise ValueError(f"training.warm_start: must be left out for {'branches' if self.branches else 'links'}")
        if self.model.encoding != "none" and self.model.encoding_join != "add":
            raise ValueError(f'model.encoding_join: must be "add" for {place}, whose first layer is narrower')
        self._check_normal(place, warm)
        return self

    def _check_normal(self, place: str, method: str) -> None:
        """Raise if a normal GNN cannot have this model and these inputs; place: the key that asks for one."""
        if self.model.layer == "transformer":
            raise ValueError(f'model.layer: must not be "transformer" for {place}, whose targets share one graph')
        if self.model.readout != "center":
            raise ValueError(f'model.readout: must be "center" for {place}, whose targets share one graph')
        if self.inputs.degree or self.inputs.graph_degree or self.inputs.learned_dim:
            raise ValueError(f"inputs: degree, graph_degree and learned_dim must be left out for {place}")
        if method == "saint" and self.inputs.reads_labels:
            raise ValueError(
                f"inputs: labels and smooth_labels must be left out for {place}, because every "
                "training node of a subgraph is a target, and its label is hidden"
            )
        count = len(self.neighbor.fanouts)
        if count not in (1, self.model.num_layers):
            raise ValueError(f"neighbor.fanouts: must be 1 or {self.model.num_layers}, as many as layers, got {count}")

    @model_validator(mode="after")
    def _check_links(self) -> Recipe:
        if self.task.kind == "node":
            if self.link != LinkRecipe():
                raise ValueError('link: must be left out unless task.kind is "link", it is "node"')
            return self
        if self.training.method in JOINED_METHODS:
            raise ValueError(
                f'task.kind: must be "node" for training.method "{self.training.method}"; "shadow" predicts links'
            )
        if self.task != TaskRecipe(kind="link"):
            raise ValueError(
                'task: target, inductive, class_weights and label_thresholds must be left out for task.kind "link"'
            )
        if self.training.label_smoothing:
            raise ValueError('training.label_smoothing: must be left out for task.kind "link"')
        if self.inputs.smooth or self.inputs.reads_labels:
            raise ValueError(
                'inputs: smooth, labels and smooth_labels must be left out for task.kind "link", because they '
                "would show the predicted link"
            )
        return self

    @model_validator(mode="after")
    def _check_scope_graphs(self) -> Recipe:
        """Refuse scope graphs that may show held-out edges in training."""
        if not any(
            branch.extractor is not None and branch.extractor.scope_graph is not None for branch in self.all_branches
        ):
            return self
        if self.task.inductive:
            raise ValueError(
                "extractor.scope_graph: must be left out with task.inductive, because it may hold edges of nodes "
                "outside the training split"
            )
        if self.task.kind == "link" and self.link.split != "given":
            raise ValueError(
                'extractor.scope_graph: must be left out for links unless link.split is "given", because it may be '
                "made from held-out links"
            )
        return self

    @property
    def is_normal(self) -> bool:
        """Whether the recipe trains a normal GNN, without scopes."""
        return self.training.method in NORMAL_METHODS

    @property
    def all_branches(self) -> tuple[BranchRecipe, ...]:
        """The complete branches; one for a recipe with a single extractor or with none."""
        if self.branches:
            return self.branches
        return (BranchRecipe(extractor=self.extractor, model=self.model),)


def _method(training: Any) -> Any:
    """Return the method of a table or record of [training]; None for the default."""
    return training.get("method") if isinstance(training, dict) else getattr(training, "method", None)


def _with_model(branch: Any, common: Any) -> Any:
    """Return a branch's table with the keys of [model] that it does not set itself."""
    base = common.model_dump() if isinstance(common, ModelRecipe) else common
    if not isinstance(branch, dict) or not isinstance(base, dict):
        if isinstance(branch, BranchRecipe) and branch.model is None and isinstance(base, dict):
            return {"extractor": branch.extractor, "model": base}
        return branch
    own = branch.get("model", {})
    return {**branch, "model": {**base, **own}} if isinstance(own, dict) else branch

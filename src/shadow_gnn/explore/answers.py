"""Answers: the shapes of all answers that the page gets, as typed dictionaries.

Not for: filling them (about.py, found.py, scope_answer.py, splits.py), or requests (requests.py).

Every path answers JSON. A fault is {"error": one line} with a status from 400 on. A service with a token wants the
header `Authorization: Bearer TOKEN` for all paths that begin with /v1; the page gets the token as #token=TOKEN in its
address. Labels of nodes are numbers of `about.graph.classes`; classes of predictions, of their truth and of splits are
numbers of the run's own `classes`. A number that is not finite is null.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

Kind = Literal["classes", "multilabel", "values", "links"]
Label = int | float | list[int] | None
"""A class, a value, the numbers of all labels that a node has, or None if unknown."""


class Fault(TypedDict):
    """Every answer with a status from 400 on."""

    error: str


class OptionAnswer(TypedDict):
    """An option of an extractor."""

    name: str
    type: Literal["int", "float", "bool", "choice", "text", "table"]
    """table: a list or table of TOML, such as the parts of a combination; no simple input fits it."""
    default: Any
    """None: may be left out, or must be given."""
    required: bool
    optional: bool
    """Whether None is allowed."""
    min: float | None
    max: float | None
    above: bool
    """Whether the value must be above min, not equal."""
    below: bool
    """Whether the value must be below max, not equal."""
    choices: list[str]
    doc: str


class ExtractorAnswer(TypedDict):
    """A kind of extractor."""

    kind: str
    doc: str
    options: list[OptionAnswer]
    edits: bool
    """Whether edits work in a graph of any size; the other kinds need a copy of it."""


class ExtractorTable(TypedDict):
    """An extractor with the options that are set; the same as in a request."""

    kind: str
    options: dict[str, Any]


class SplitCount(TypedDict):
    """A split."""

    name: str
    count: int


class GraphAnswer(TypedDict):
    """The graph."""

    name: str
    nodes: int
    edges: int
    """An undirected edge counts once."""
    directed: bool
    weighted: bool
    has_names: bool
    label_kind: Literal["classes", "multilabel", "values"] | None
    classes: list[str]
    """Names of classes or labels, or their numbers as text; empty for values and without labels."""
    num_columns: int
    columns: list[str] | None
    """Names of feature columns."""
    splits: list[SplitCount]
    version: int
    """Updates made to the graph so far."""


class RunAnswer(TypedDict):
    """A run."""

    name: str
    kind: Kind
    """Predicted quantity; links need a pair in place of a node."""
    classes: list[str]
    """Of classes or labels; "no link" and "link" of links; empty for values."""
    layer: str
    num_layers: int
    hidden_dim: int
    branches: int
    type: Literal["scopes", "normal", "hybrid", "joint"]
    note: str | None
    """A sentence to show next to predictions."""
    extractor: ExtractorTable | None
    """The one that is used if a request has none; None for an ensemble of several, which takes no other."""
    reads_labels: bool
    """Whether labels of neighbors are inputs, so that edits of labels count."""
    metrics: dict[str, float]
    """Of the test split, from training."""
    splits: list[str]
    """Splits of /v1/explore/split."""
    methods: list[str]
    """Methods of explanation, the default first."""
    version: str
    """Checksum of the weights."""


class AboutAnswer(TypedDict):
    """GET /v1/explore/about."""

    graph: GraphAnswer
    runs: list[RunAnswer]
    extractors: list[ExtractorAnswer]
    default_extractor: ExtractorTable
    """Used without a run and without an extractor in the request."""
    most_nodes: int
    """Of a scope that is shown."""
    most_edges: int
    version: str
    """Of shadow-gnn."""


class FoundNode(TypedDict):
    """A node that fits a text."""

    id: int
    name: str | None
    label: Label


class FindAnswer(TypedDict):
    """GET /v1/explore/find?text=gim&limit=20."""

    nodes: list[FoundNode]


class PickedTarget(TypedDict):
    """A target that was picked; of a pair, id and name are those of its first end."""

    id: int
    name: str | None
    other_id: NotRequired[int]
    """Second end of a pair."""
    other_name: NotRequired[str | None]
    label: Label
    """The known class, number of `run.classes` with a run; 1 and 0 for a link and no link."""
    degree: int | None
    prediction: int | float | list[int] | None
    """Class, value, or labels; 1 for a link. None without a run, or before the split is computed."""
    confidence: float | None
    """Probability of the prediction; None for values."""


class PickAnswer(TypedDict):
    """POST /v1/explore/pick."""

    progress: float
    """Below 1: the split is being computed, ask again; nodes are empty then if they depend on predictions."""
    total: int
    """All that fit, of which `offset` are left out."""
    nodes: list[PickedTarget]


class BinAnswer(TypedDict):
    """Targets with a property in a range."""

    bin: int
    """Its number in a PickBody."""
    name: str
    low: float
    high: float
    count: int
    value: float | None
    """The metric: accuracy of classes and links, F1 of labels, mean absolute error of values."""


class ClassAnswer(TypedDict):
    """Predictions of one class or label."""

    number: int
    name: str
    count: int
    predicted: int
    precision: float | None
    recall: float | None
    f1: float | None
    roc_auc: float | None


class CalibrationBin(TypedDict):
    """Predictions with a probability in a range."""

    bin: int
    low: float
    high: float
    count: int
    probability: float | None
    """Their mean probability."""
    right: float | None
    """Share of them that is right."""


class CalibrationAnswer(TypedDict):
    """Probabilities against the share that is right."""

    error: float | None
    """Expected calibration error."""
    bins: list[CalibrationBin]


class SplitAnswer(TypedDict):
    """GET /v1/explore/split?run=NAME&split=test; only `progress` until it is 1."""

    progress: float
    run: NotRequired[str]
    split: NotRequired[str]
    kind: NotRequired[Kind]
    count: NotRequired[int]
    """Targets with known labels."""
    metric: NotRequired[str]
    value: NotRequired[float | None]
    classes: NotRequired[list[ClassAnswer]]
    confusion: NotRequired[list[list[int]] | None]
    """[known class][predicted class]; None for labels and values."""
    by_degree: NotRequired[list[BinAnswer]]
    calibration: NotRequired[CalibrationAnswer | None]
    graph_version: NotRequired[int]


class FeatureAnswer(TypedDict):
    """A feature of a node."""

    column: int
    name: str
    value: float


class NodeAnswer(TypedDict):
    """A node of a scope; targets come first."""

    id: int | None
    """None for a new node."""
    new: int | None
    """Place of a new node in the edits."""
    name: str | None
    """None in a graph without names."""
    label: Label
    split: str | None
    """The first split that it is in."""
    hop: int
    score: float | None
    degree: int
    contribution: float | None
    features: list[FeatureAnswer]
    """Its columns with the largest values of either sign, at most 5."""
    edited: bool
    """Whether the edits name it."""


EdgeAnswer = TypedDict(
    "EdgeAnswer",
    {
        "from": int,
        "to": int,
        "weight": float | None,
        "contribution": float | None,
        "added": bool,
    },
)
"""An edge between two places of `nodes`; an undirected one once, from the farther end to the nearer."""


class ClassShare(TypedDict):
    """The probability of a class or label."""

    number: int
    name: str
    probability: float


class PredictionAnswer(TypedDict):
    """The prediction of a target."""

    kind: Kind
    text: str
    """In words: a class, labels, a value or a probability."""
    number: int | None
    """The predicted class; None for the other kinds."""
    labels: list[int] | None
    """The predicted labels."""
    value: float | None
    probability: float | None
    """Of the predicted class, or of a link."""
    probabilities: list[ClassShare]
    """Of all classes or labels, the largest first; empty for values and links."""


class TruthAnswer(TypedDict):
    """The known answer."""

    text: str
    number: int | None
    labels: list[int] | None
    value: float | None
    right: bool | None
    """Whether the prediction is the truth; None for values and labels."""


class ColumnAnswer(TypedDict):
    """The contribution of an input column, over all nodes of the scope."""

    name: str
    contribution: float
    value: float
    """The target's own value."""


class ExplanationAnswer(TypedDict):
    """The explained quantity."""

    method: str
    number: int | None
    """The explained class or label."""
    text: str
    answer: float
    """Log-odds of the class, label or link, or the value: contributions are in its unit."""
    columns: list[ColumnAnswer]
    """The strongest ones, at most 30."""


class TimesAnswer(TypedDict):
    """Milliseconds of the stages."""

    scope: float
    model: float
    """Prediction, with the explanation if there is one."""


class ScopeAnswer(TypedDict):
    """POST /v1/explore/scope."""

    target: list[int]
    """Places of the target, or of both ends of a pair, in `nodes`."""
    nodes: list[NodeAnswer]
    edges: list[EdgeAnswer]
    extractor: ExtractorTable | None
    """The one that made the scope; None for an ensemble of several."""
    prediction: PredictionAnswer | None
    before: PredictionAnswer | None
    """The prediction without the edits; None without edits, without a run, or for a new node."""
    truth: TruthAnswer | None
    explanation: ExplanationAnswer | None
    notes: list[str]
    """Sentences to show next to the prediction."""
    recipe: str
    python: str
    milliseconds: TimesAnswer
    nodes_touched: int
    edges_touched: int
    model_version: str | None
    graph_version: int

"""shadow_gnn: graph neural networks whose depth does not widen their scope.

Not for: effects at import. Names load their modules when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shadow_gnn import extract as extract
    from shadow_gnn.graph.record import Graph as Graph
    from shadow_gnn.graph.store import open_graph as open_graph
    from shadow_gnn.graph.store import save_graph as save_graph
    from shadow_gnn.loading.batch import Batch as Batch
    from shadow_gnn.loading.loader import Loader as Loader
    from shadow_gnn.nn.model import ShadowGNN as ShadowGNN
    from shadow_gnn.recipe import ModelRecipe as ModelRecipe
    from shadow_gnn.recipe import Recipe as Recipe
    from shadow_gnn.recipe import TrainingRecipe as TrainingRecipe
    from shadow_gnn.recipe.file import read_recipe as read_recipe
    from shadow_gnn.tasks.task import node_task as node_task
    from shadow_gnn.training.build import build_model as build_model
    from shadow_gnn.training.loop import fit as fit
    from shadow_gnn.training.model_file import read_model as read_model
    from shadow_gnn.training.runs.folder import open_run as open_run
    from shadow_gnn.training.runs.run import resume_run as resume_run
    from shadow_gnn.training.runs.run import train_recipe as train_recipe

__version__ = "0.1.0"

_HOME = {
    "Batch": "shadow_gnn.loading.batch",
    "Graph": "shadow_gnn.graph.record",
    "Loader": "shadow_gnn.loading.loader",
    "ModelRecipe": "shadow_gnn.recipe",
    "Recipe": "shadow_gnn.recipe",
    "ShadowGNN": "shadow_gnn.nn.model",
    "TrainingRecipe": "shadow_gnn.recipe",
    "build_model": "shadow_gnn.training.build",
    "fit": "shadow_gnn.training.loop",
    "node_task": "shadow_gnn.tasks.task",
    "open_graph": "shadow_gnn.graph.store",
    "open_run": "shadow_gnn.training.runs.folder",
    "read_model": "shadow_gnn.training.model_file",
    "read_recipe": "shadow_gnn.recipe.file",
    "resume_run": "shadow_gnn.training.runs.run",
    "save_graph": "shadow_gnn.graph.store",
    "train_recipe": "shadow_gnn.training.runs.run",
}

__all__ = [
    "Batch",
    "Graph",
    "Loader",
    "ModelRecipe",
    "Recipe",
    "ShadowGNN",
    "TrainingRecipe",
    "__version__",
    "build_model",
    "extract",
    "fit",
    "node_task",
    "open_graph",
    "open_run",
    "read_model",
    "read_recipe",
    "resume_run",
    "save_graph",
    "train_recipe",
]


def __getattr__(name: str) -> Any:
    if name == "extract":
        return import_module("shadow_gnn.extract")
    if name not in _HOME:
        raise AttributeError(f"module 'shadow_gnn' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)

"""shadow_gnn: graph neural networks whose depth does not widen their scope.

Not for: effects at import. Names load their modules when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shadow_gnn import extract as extract
    from shadow_gnn.batch import Batch as Batch
    from shadow_gnn.build import build_model as build_model
    from shadow_gnn.graph import Graph as Graph
    from shadow_gnn.loader import Loader as Loader
    from shadow_gnn.model_file import read_model as read_model
    from shadow_gnn.nn.model import ShadowGNN as ShadowGNN
    from shadow_gnn.recipe import ModelRecipe as ModelRecipe
    from shadow_gnn.recipe import Recipe as Recipe
    from shadow_gnn.recipe import TrainingRecipe as TrainingRecipe
    from shadow_gnn.recipe.file import read_recipe as read_recipe
    from shadow_gnn.run.folder import open_run as open_run
    from shadow_gnn.run.training import resume_run as resume_run
    from shadow_gnn.run.training import train_recipe as train_recipe
    from shadow_gnn.store import open_graph as open_graph
    from shadow_gnn.store import save_graph as save_graph
    from shadow_gnn.task import node_task as node_task
    from shadow_gnn.train import fit as fit

__version__ = "0.1.0"

_HOME = {
    "Batch": "shadow_gnn.batch",
    "Graph": "shadow_gnn.graph",
    "Loader": "shadow_gnn.loader",
    "ModelRecipe": "shadow_gnn.recipe",
    "Recipe": "shadow_gnn.recipe",
    "ShadowGNN": "shadow_gnn.nn.model",
    "TrainingRecipe": "shadow_gnn.recipe",
    "build_model": "shadow_gnn.build",
    "fit": "shadow_gnn.train",
    "node_task": "shadow_gnn.task",
    "open_graph": "shadow_gnn.store",
    "open_run": "shadow_gnn.run.folder",
    "read_model": "shadow_gnn.model_file",
    "read_recipe": "shadow_gnn.recipe.file",
    "resume_run": "shadow_gnn.run.training",
    "save_graph": "shadow_gnn.store",
    "train_recipe": "shadow_gnn.run.training",
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

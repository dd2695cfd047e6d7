"""shadow_gnn: graph neural networks whose depth does not widen their scope.

Everything that the README and the how-to pages use; extractors are in shadow_gnn.extract, layers in shadow_gnn.nn.

Not for: effects at import. Names load their modules when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shadow_gnn.base.lazy import lazy_names

if TYPE_CHECKING:
    from shadow_gnn import extract as extract
    from shadow_gnn import nn as nn
    from shadow_gnn.base.allocator import keep_freed_memory as keep_freed_memory
    from shadow_gnn.base.memory_available import available_memory as available_memory
    from shadow_gnn.base.memory_available import check_need as check_need
    from shadow_gnn.base.memory_needs import GraphCounts as GraphCounts
    from shadow_gnn.base.memory_needs import ModelCounts as ModelCounts
    from shadow_gnn.base.memory_needs import full_batch_need as full_batch_need
    from shadow_gnn.base.memory_needs import sign_need as sign_need
    from shadow_gnn.graph.datasets import open_dataset as open_dataset
    from shadow_gnn.graph.datasets import unpack_dataset as unpack_dataset
    from shadow_gnn.graph.datasets.named import get_dataset as get_dataset
    from shadow_gnn.graph.datasets.statistics import dataset_differences as dataset_differences
    from shadow_gnn.graph.datasets.statistics import dataset_statistics as dataset_statistics
    from shadow_gnn.graph.generators.folder import generate_graph as generate_graph
    from shadow_gnn.graph.generators.plan import GraphPlan as GraphPlan
    from shadow_gnn.graph.generators.plan import disk_need as disk_need
    from shadow_gnn.graph.importing.from_tables import from_tables as from_tables
    from shadow_gnn.graph.importing.in_memory import from_edges as from_edges
    from shadow_gnn.graph.importing.in_memory import from_networkx as from_networkx
    from shadow_gnn.graph.importing.in_memory import from_pyg as from_pyg
    from shadow_gnn.graph.importing.in_memory import from_scipy as from_scipy
    from shadow_gnn.graph.names import NodeNames as NodeNames
    from shadow_gnn.graph.record import DenseFeatures as DenseFeatures
    from shadow_gnn.graph.record import Graph as Graph
    from shadow_gnn.graph.record import SparseFeatures as SparseFeatures
    from shadow_gnn.graph.store import open_graph as open_graph
    from shadow_gnn.graph.store import save_graph as save_graph
    from shadow_gnn.graph.verify import verify_graph as verify_graph
    from shadow_gnn.inference.estimators import LinkPredictor as LinkPredictor
    from shadow_gnn.inference.estimators import NodeClassifier as NodeClassifier
    from shadow_gnn.inference.estimators import NodeRegressor as NodeRegressor
    from shadow_gnn.inference.evaluation import evaluate_split as evaluate_split
    from shadow_gnn.inference.hybrid import evaluate_hybrid as evaluate_hybrid
    from shadow_gnn.inference.hybrid import open_hybrid as open_hybrid
    from shadow_gnn.inference.hybrid import predict_hybrid as predict_hybrid
    from shadow_gnn.inference.hybrid import train_hybrid as train_hybrid
    from shadow_gnn.inference.predictions import Predictions as Predictions
    from shadow_gnn.inference.predictor import Predictor as Predictor
    from shadow_gnn.inference.predictor import open_predictor as open_predictor
    from shadow_gnn.inference.recommendations import recommend as recommend
    from shadow_gnn.inference.write_predictions import write_predictions as write_predictions
    from shadow_gnn.loading.batch import Batch as Batch
    from shadow_gnn.loading.batch import collate as collate
    from shadow_gnn.loading.loader import Loader as Loader
    from shadow_gnn.loading.pyg_sampler import ExtractorSampler as ExtractorSampler
    from shadow_gnn.nn.model import ShadowGNN as ShadowGNN
    from shadow_gnn.normal import Drawer as Drawer
    from shadow_gnn.normal import JointLoader as JointLoader
    from shadow_gnn.normal import SaintLoader as SaintLoader
    from shadow_gnn.normal import WalkSampler as WalkSampler
    from shadow_gnn.normal import closure_batch as closure_batch
    from shadow_gnn.normal import count_subgraphs as count_subgraphs
    from shadow_gnn.recipe import BranchRecipe as BranchRecipe
    from shadow_gnn.recipe import InputsRecipe as InputsRecipe
    from shadow_gnn.recipe import LinkRecipe as LinkRecipe
    from shadow_gnn.recipe import LoggingRecipe as LoggingRecipe
    from shadow_gnn.recipe import ModelRecipe as ModelRecipe
    from shadow_gnn.recipe import Recipe as Recipe
    from shadow_gnn.recipe import TaskRecipe as TaskRecipe
    from shadow_gnn.recipe import TrainingRecipe as TrainingRecipe
    from shadow_gnn.recipe.file import read_recipe as read_recipe
    from shadow_gnn.recipe.named import find_recipe as find_recipe
    from shadow_gnn.recipe.named import paper_recipe as paper_recipe
    from shadow_gnn.recipe.named import paper_recipe_names as paper_recipe_names
    from shadow_gnn.studies.advise import AdviseOptions as AdviseOptions
    from shadow_gnn.studies.advise import advise as advise
    from shadow_gnn.studies.analysis.cost_quality_plot import plot_comparison as plot_comparison
    from shadow_gnn.studies.analysis.learning_curves import plot_learning_curves as plot_learning_curves
    from shadow_gnn.studies.analysis.learning_curves import read_curve as read_curve
    from shadow_gnn.studies.analysis.scope_drawing import draw_scope as draw_scope
    from shadow_gnn.studies.baselines import make_problem as make_problem
    from shadow_gnn.studies.baselines import run_baselines as run_baselines
    from shadow_gnn.studies.cost import ModelShape as ModelShape
    from shadow_gnn.studies.cost import estimate_ratio as estimate_ratio
    from shadow_gnn.studies.cost import normal_cost as normal_cost
    from shadow_gnn.studies.cost import sample_targets as sample_targets
    from shadow_gnn.studies.cost import shadow_cost as shadow_cost
    from shadow_gnn.studies.explain.explain import explain as explain
    from shadow_gnn.studies.explain.explain import explanations as explanations
    from shadow_gnn.studies.explain.explanation import Explanation as Explanation
    from shadow_gnn.studies.explain.gnn_explainer import TwinExplainer as TwinExplainer
    from shadow_gnn.studies.explain.on_batches import explain_batches as explain_batches
    from shadow_gnn.studies.explain.planted import relay_graph as relay_graph
    from shadow_gnn.studies.explain.pyg_twin import PygTwin as PygTwin
    from shadow_gnn.studies.explain.quality import truth_auc as truth_auc
    from shadow_gnn.studies.explain.saliency import edge_saliency as edge_saliency
    from shadow_gnn.studies.explain.saliency import sent_by_node as sent_by_node
    from shadow_gnn.studies.explain.summary import summarize_split as summarize_split
    from shadow_gnn.studies.export import export_model as export_model
    from shadow_gnn.studies.paper.engine import reproduce as reproduce
    from shadow_gnn.studies.paper.experiment import ReproduceOptions as ReproduceOptions
    from shadow_gnn.studies.paper.registry import find_experiment as find_experiment
    from shadow_gnn.studies.report_plot import plot_report as plot_report
    from shadow_gnn.studies.scope_curve import scope_curve as scope_curve
    from shadow_gnn.studies.theory import run_statements as run_statements
    from shadow_gnn.studies.theory.long_range import LongRangeTask as LongRangeTask
    from shadow_gnn.studies.theory.long_range import TrialModel as TrialModel
    from shadow_gnn.studies.theory.long_range import long_range_graph as long_range_graph
    from shadow_gnn.studies.theory.long_range import try_scope as try_scope
    from shadow_gnn.studies.tune.tuning import TuneOptions as TuneOptions
    from shadow_gnn.studies.tune.tuning import search_space as search_space
    from shadow_gnn.tasks.links.baselines import run_link_baselines as run_link_baselines
    from shadow_gnn.tasks.task import node_task as node_task
    from shadow_gnn.training.build import build_extractor as build_extractor
    from shadow_gnn.training.build import build_model as build_model
    from shadow_gnn.training.defaults import choose_hybrid as choose_hybrid
    from shadow_gnn.training.defaults import default_recipe as default_recipe
    from shadow_gnn.training.evaluate import evaluate as evaluate
    from shadow_gnn.training.evaluate import outputs as outputs
    from shadow_gnn.training.hub import from_pretrained as from_pretrained
    from shadow_gnn.training.hub import share_run as share_run
    from shadow_gnn.training.link_setup import link_problem as link_problem
    from shadow_gnn.training.loop import FitOptions as FitOptions
    from shadow_gnn.training.loop import fit as fit
    from shadow_gnn.training.model_file import TrainedModel as TrainedModel
    from shadow_gnn.training.model_file import read_model as read_model
    from shadow_gnn.training.runs.folder import open_run as open_run
    from shadow_gnn.training.runs.run import resume_run as resume_run
    from shadow_gnn.training.runs.run import train_recipe as train_recipe

__version__ = "0.2.0"

# Where each name lives, below shadow_gnn.
_HOME = {
    "AdviseOptions": "studies.advise",
    "Batch": "loading.batch",
    "BranchRecipe": "recipe",
    "DenseFeatures": "graph.record",
    "Drawer": "normal",
    "Explanation": "studies.explain.explanation",
    "ExtractorSampler": "loading.pyg_sampler",
    "FitOptions": "training.loop",
    "Graph": "graph.record",
    "GraphCounts": "base.memory_needs",
    "GraphPlan": "graph.generators.plan",
    "InputsRecipe": "recipe",
    "JointLoader": "normal",
    "LinkPredictor": "inference.estimators",
    "LinkRecipe": "recipe",
    "Loader": "loading.loader",
    "LoggingRecipe": "recipe",
    "LongRangeTask": "studies.theory.long_range",
    "ModelCounts": "base.memory_needs",
    "ModelRecipe": "recipe",
    "ModelShape": "studies.cost",
    "NodeClassifier": "inference.estimators",
    "NodeNames": "graph.names",
    "NodeRegressor": "inference.estimators",
    "Predictions": "inference.predictions",
    "Predictor": "inference.predictor",
    "PygTwin": "studies.explain.pyg_twin",
    "Recipe": "recipe",
    "ReproduceOptions": "studies.paper.experiment",
    "SaintLoader": "normal",
    "ShadowGNN": "nn.model",
    "SparseFeatures": "graph.record",
    "TaskRecipe": "recipe",
    "TrainedModel": "training.model_file",
    "TrainingRecipe": "recipe",
    "TrialModel": "studies.theory.long_range",
    "TuneOptions": "studies.tune.tuning",
    "TwinExplainer": "studies.explain.gnn_explainer",
    "WalkSampler": "normal",
    "advise": "studies.advise",
    "available_memory": "base.memory_available",
    "build_extractor": "training.build",
    "build_model": "training.build",
    "check_need": "base.memory_available",
    "choose_hybrid": "training.defaults",
    "closure_batch": "normal",
    "collate": "loading.batch",
    "count_subgraphs": "normal",
    "dataset_differences": "graph.datasets.statistics",
    "dataset_statistics": "graph.datasets.statistics",
    "default_recipe": "training.defaults",
    "disk_need": "graph.generators.plan",
    "draw_scope": "studies.analysis.scope_drawing",
    "edge_saliency": "studies.explain.saliency",
    "estimate_ratio": "studies.cost",
    "evaluate": "training.evaluate",
    "evaluate_hybrid": "inference.hybrid",
    "evaluate_split": "inference.evaluation",
    "explain": "studies.explain.explain",
    "explain_batches": "studies.explain.on_batches",
    "explanations": "studies.explain.explain",
    "export_model": "studies.export",
    "find_experiment": "studies.paper.registry",
    "find_recipe": "recipe.named",
    "fit": "training.loop",
    "from_edges": "graph.importing.in_memory",
    "from_networkx": "graph.importing.in_memory",
    "from_pretrained": "training.hub",
    "from_pyg": "graph.importing.in_memory",
    "from_scipy": "graph.importing.in_memory",
    "from_tables": "graph.importing.from_tables",
    "full_batch_need": "base.memory_needs",
    "generate_graph": "graph.generators.folder",
    "get_dataset": "graph.datasets.named",
    "keep_freed_memory": "base.allocator",
    "link_problem": "training.link_setup",
    "long_range_graph": "studies.theory.long_range",
    "make_problem": "studies.baselines",
    "node_task": "tasks.task",
    "normal_cost": "studies.cost",
    "open_dataset": "graph.datasets",
    "open_graph": "graph.store",
    "open_hybrid": "inference.hybrid",
    "open_predictor": "inference.predictor",
    "open_run": "training.runs.folder",
    "outputs": "training.evaluate",
    "paper_recipe": "recipe.named",
    "paper_recipe_names": "recipe.named",
    "plot_comparison": "studies.analysis.cost_quality_plot",
    "plot_learning_curves": "studies.analysis.learning_curves",
    "predict_hybrid": "inference.hybrid",
    "plot_report": "studies.report_plot",
    "read_curve": "studies.analysis.learning_curves",
    "read_model": "training.model_file",
    "read_recipe": "recipe.file",
    "recommend": "inference.recommendations",
    "relay_graph": "studies.explain.planted",
    "reproduce": "studies.paper.engine",
    "resume_run": "training.runs.run",
    "run_baselines": "studies.baselines",
    "run_link_baselines": "tasks.links.baselines",
    "run_statements": "studies.theory",
    "sample_targets": "studies.cost",
    "save_graph": "graph.store",
    "scope_curve": "studies.scope_curve",
    "search_space": "studies.tune.tuning",
    "sent_by_node": "studies.explain.saliency",
    "shadow_cost": "studies.cost",
    "share_run": "training.hub",
    "sign_need": "base.memory_needs",
    "train_hybrid": "inference.hybrid",
    "summarize_split": "studies.explain.summary",
    "train_recipe": "training.runs.run",
    "truth_auc": "studies.explain.quality",
    "try_scope": "studies.theory.long_range",
    "unpack_dataset": "graph.datasets",
    "verify_graph": "graph.verify",
    "write_predictions": "inference.write_predictions",
}

__all__ = ["__version__", "extract", "nn", *_HOME]

__getattr__, __dir__ = lazy_names("shadow_gnn", _HOME, packages=("extract", "nn"))

"""Hub: a model pushed to the Hugging Face Hub, and a model by its folder or Hub id.

Not for: the layout of the files (model_file.py, runs/card.py). Needs the extra `hub`; nothing is sent without a call.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from shadow_gnn.base.errors import RunError
from shadow_gnn.training.model_file import CONFIG, IMPORT, WEIGHTS, TrainedModel, read_model
from shadow_gnn.training.runs.card import CARD
from shadow_gnn.training.runs.folder import open_run

SHARED = (CARD, CONFIG, WEIGHTS, IMPORT)
"""Files of a run that are pushed, if they are there: no paths, no checkpoints, no data of the graph but statistics and
the categories and words of its columns."""
_HUB_ID = re.compile(r"[\w.-]{1,96}/[\w.-]{1,96}")


def share_run(folder: str | Path, repo_id: str, *, private: bool = False, endpoint: str | None = None) -> str:
    """Push card, config and weights of a finished run to a repository of the Hub, and return its address.

    The user must be logged in (`hf auth login`). endpoint: another server than the public Hub.

    >>> sg.share_run("runs/first", "my-name/ring", private=True)  # doctest: +SKIP
    """
    folder = Path(folder)
    if not _HUB_ID.fullmatch(repo_id):
        raise ValueError(f"share: repo_id must be OWNER/NAME, got {repo_id!r}")
    if open_run(folder).result is None:
        raise RunError(f"{folder}: is not finished; shadow resume continues it")
    read_model(folder)  # A damaged model is not shared.
    missing = [name for name in (CARD, CONFIG, WEIGHTS) if not (folder / name).is_file()]
    if missing:
        raise RunError(f"{folder / missing[0]}: is missing; train the model again")
    hub = _hub()
    api = hub.HfApi(endpoint=endpoint)
    try:
        api.create_repo(repo_id, private=private, exist_ok=True)
        api.upload_folder(
            repo_id=repo_id, folder_path=folder, allow_patterns=list(SHARED), commit_message="Upload a shadow-gnn model"
        )
    except (OSError, ValueError, hub.errors.HfHubHTTPError) as error:
        raise RunError(f"share: {repo_id} could not be pushed: {_first_line(error)}") from error
    return f"{api.endpoint}/{repo_id}"


def from_pretrained(name: str | Path, *, revision: str | None = None, endpoint: str | None = None) -> TrainedModel:
    """Read a trained model from a run folder, or from the Hub by its id OWNER/NAME.

    revision: branch, tag or commit on the Hub. The checksums of config and weights are compared in both cases.

    >>> sg.from_pretrained("runs/first").config.out_dim
    2
    """
    if Path(name).exists() or not _HUB_ID.fullmatch(str(name)):
        return read_model(name)
    hub = _hub()
    try:
        folder = hub.snapshot_download(
            str(name), revision=revision, allow_patterns=list(SHARED), endpoint=endpoint, max_workers=1
        )
    except (OSError, ValueError, hub.errors.HfHubHTTPError) as error:
        raise RunError(f"{name}: is not a folder, and the Hub did not give it: {_first_line(error)}") from error
    return read_model(folder)


def _hub() -> Any:
    try:
        import huggingface_hub
        import huggingface_hub.errors
    except ImportError as error:
        raise RunError("the Hub needs the package huggingface_hub: pip install 'shadow-gnn[hub]'") from error
    return huggingface_hub


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]

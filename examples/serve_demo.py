"""`shadow serve` in a minute: sections of three Debian packages, and of one that does not exist.

Trains a small model on the built-in graph unless runs/serve-demo has one. Not for: the best accuracy.
"""

import json
import subprocess
import sys
from pathlib import Path

from debian_words import description_features

from shadow_gnn.client import Client

HOME = Path("runs/serve-demo")
RECIPE = Path(__file__).resolve().parent.parent / "recipes" / "debian.toml"
SMALLER = ("training.num_epochs=2", "model.hidden_dim=64", "extractor.topk=32")
KNOWN = ("gimp", "postgresql-15", "python3-numpy")
# A package that nobody has written yet.
NAME = "shadow-photo"
DESCRIPTION = "digital photography: develops raw images of a camera, edits photos, adjusts color, exposure and shadows"
DEPENDS = ("libgtk-3-0", "libraw20", "libc6")


def shadow(*words: str) -> list[str]:
    """Return a command of this environment."""
    return [sys.executable, "-m", "shadow_gnn", *words]


def train() -> Path:
    """Train the model, unless it is there."""
    run = HOME / "run"
    if not (run / "result.json").exists():
        settings = [word for setting in SMALLER for word in ("--set", setting)]
        fresh = shadow("train", str(RECIPE), *settings, "--out", str(run))
        subprocess.run(shadow("resume", str(run)) if run.exists() else fresh, check=True)
    return run


def new_package() -> dict[str, object]:
    """Return the package as a request: a name, features of its description, edges to its dependencies."""
    edges = [{"to": name} for name in DEPENDS]
    return {"name": NAME, "features": description_features(DESCRIPTION).tolist(), "edges": edges}


def show(row: dict[str, object], name: str) -> None:
    """Print one prediction."""
    chances = row["probabilities"]
    assert isinstance(chances, dict)
    best = sorted(chances, key=lambda section: -chances[section])[:3]
    shares = ", ".join(f"{section} {chances[section]:.0%}" for section in best)
    print(f"{name:14} {shares} ({row['num_nodes']} packages looked at)")


def main() -> None:
    """Train, serve, ask, end."""
    run = train()
    command = shadow("serve", str(run), "--port", "0", "--updates", str(HOME / "log"), "--json")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as service:
        assert service.stdout is not None
        text = ""
        while not text.endswith("}\n"):
            line = service.stdout.readline()
            if not line:
                sys.exit("the service has ended")
            text += line
        with Client(json.loads(text)["url"], retries=8) as client:
            found = client.predict(KNOWN, new_nodes=[new_package()])
        for row, name in zip(found["predictions"], (*KNOWN, NAME), strict=True):
            show(row, name)
        print(f"version {found['graph_version']} of the graph, which does not have {NAME}: only this request did")
        service.terminate()


if __name__ == "__main__":
    main()

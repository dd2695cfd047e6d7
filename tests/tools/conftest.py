"""The scripts in tools import each other by name, as they do when they are run from there."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

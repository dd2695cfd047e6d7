"""bf16: test whether matrix products in bfloat16 work on this processor, before one crashes the process.

Not for: choosing a precision; a recipe does that.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

SETTING = "ONEDNN_MAX_CPU_ISA"
"""Environment variable that limits the instructions of oneDNN, torch's library for products on the CPU."""
SAFE = "AVX512_CORE_BF16"
"""Its value for every instruction set below AMX."""

_PROBE = """
import torch
for size in (16, 100, 1000):
    for width in (3, 7, 64, 256):
        rows, weight = (torch.zeros(count, width, dtype=torch.bfloat16) for count in (size, 64))
        torch.nn.functional.linear(rows, weight)
"""


def check_bf16() -> None:
    """Raise if products in bfloat16 would crash: some virtual machines announce AMX but do not have it."""
    if not bf16_works():
        raise ValueError(
            "training: precision must be float32 here, as the processor announces products in bf16 that crash; "
            f"or start the process with {SETTING}={SAFE}"
        )


def bf16_works() -> bool:
    """Tell whether products in bfloat16 work; if AMX is announced, another process tests it for a few seconds."""
    return SETTING in os.environ or not _announces_amx() or _probe()


def use_working_kernels() -> None:
    """Turn AMX off in this process if it does not work; for programs, before their first product."""
    if not bf16_works():
        os.environ[SETTING] = SAFE


def _announces_amx() -> bool:
    try:
        return "amx_tile" in Path("/proc/cpuinfo").read_text(errors="replace")
    except OSError:
        return False


@cache
def _probe() -> bool:
    """Compute some products in another process, which may crash on an illegal instruction."""
    return subprocess.run([sys.executable, "-c", _PROBE], capture_output=True, check=False).returncode == 0

"""PyTorch as a peer: batched tensors on one thread of the CPU."""

from __future__ import annotations

import importlib
from typing import Any

from dpsco_bench.bench.measure import NotMeasurable


def import_torch() -> Any:
    """Import PyTorch on one thread, which is what it is compared with.

    Raises NotMeasurable where it is not installed.
    """
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        raise NotMeasurable("PyTorch is not installed (make peers)") from None
    torch.set_num_threads(1)
    return torch

"""What the capture asks of the helper."""
from __future__ import annotations

import os

VARIABLE = "PLIMSOLL_CAPTURE"  # names the file with the settings


class Settings:
    """The settings of one capture; sizes are counts, times are seconds."""

    def __init__(self, fields: dict) -> None:
        self.out: str = fields["out"]
        self.steps: int = int(fields.get("steps") or 3)
        self.timeout: float = float(fields.get("timeout_s") or 0)  # 0: no limit
        self.zeros: bool = bool(fields.get("zeros"))  # leave small tensors uncomputed too
        self.keep_init: bool = bool(fields.get("keep_init"))
        self.allow_writes: bool = bool(fields.get("allow_writes"))
        self.world: int = int(fields.get("world") or 0)  # 0: the script's own processes
        self.rank: int = int(fields.get("rank") or 0)
        self.max_entries: int = int(fields.get("max_entries") or 20_000_000)
        self.operators: bool = bool(fields.get("operators"))  # record the frames of PyTorch itself, too
        self.script_dir: str = fields.get("script_dir") or ""


def read() -> Settings | None:
    """The settings of the capture that runs this process, or None outside one."""
    path = os.environ.get(VARIABLE)
    if not path:
        return None
    import json

    with open(path, encoding="utf-8") as file:
        return Settings(json.load(file))

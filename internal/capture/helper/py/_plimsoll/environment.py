"""Environment variables that a captured process and its children run under."""
from __future__ import annotations

import os

# Experiment trackers and telemetry switched off, each by the variable that its own documentation names.
# (variable, value, what is dropped)
QUIET = (
    ("WANDB_MODE", "disabled", "wandb"),
    ("WANDB_ERROR_REPORTING", "false", ""),
    ("MLFLOW_ENABLE_SYSTEM_METRICS_LOGGING", "false", ""),
    ("COMET_MODE", "disabled", "comet_ml"),
    ("COMET_DISABLE_AUTO_LOGGING", "1", ""),
    ("NEPTUNE_MODE", "debug", "neptune"),
    ("CLEARML_OFFLINE_MODE", "1", "clearml"),
    ("SWANLAB_MODE", "disabled", "swanlab"),
    ("HF_HUB_DISABLE_TELEMETRY", "1", ""),
    ("DISABLE_TELEMETRY", "1", ""),
    ("DO_NOT_TRACK", "1", ""),
    ("GRADIO_ANALYTICS_ENABLED", "False", ""),
    ("LIGHTNING_DISABLE_TELEMETRY", "1", ""),
    ("CODECARBON_ALLOW_MULTIPLE_RUNS", "True", ""),
)

# A process that plays one rank alone has no peers whose heartbeat it could miss.
ALONE = (
    ("TORCH_NCCL_ENABLE_MONITORING", "0"),
    ("TORCH_NCCL_DUMP_ON_TIMEOUT", "0"),
    ("TORCH_NCCL_ASYNC_ERROR_HANDLING", "0"),
)


def prepare(settings) -> None:
    """Set what must stand before any library reads it."""
    if not settings.allow_writes:
        for name, value, _ in QUIET:
            os.environ[name] = value
    if settings.world > 0 and "RANK" not in os.environ:
        _be_a_rank(settings)


def devices() -> int:
    """How many devices the virtual GPU shows, read from its own settings."""
    for field in os.environ.get("PLIMSOLL_VGPU", "").split(";"):
        name, _, value = field.partition("=")
        if name == "devices" and value.isdigit():
            return max(int(value), 1)
    return 1


def _be_a_rank(settings) -> None:
    """Say what a launcher would say to rank R of N, one node for each set of devices."""
    local = devices()
    for name, value in (
        ("RANK", settings.rank),
        ("WORLD_SIZE", settings.world),
        ("LOCAL_RANK", settings.rank % local),
        ("LOCAL_WORLD_SIZE", min(local, settings.world)),
        ("NODE_RANK", settings.rank // local),
        ("GROUP_RANK", settings.rank // local),
        ("MASTER_ADDR", "127.0.0.1"),
        ("MASTER_PORT", "29500"),
    ):
        os.environ.setdefault(name, str(value))
    for name, value in ALONE:
        os.environ.setdefault(name, value)

"""Experiment trackers and hubs: what would leave the machine is dropped and listed."""
from __future__ import annotations

import functools

from . import imports

written: list = []  # (action, what, path) from before a session could be told


def tell(action: str, what: str, path: str = "") -> None:
    """Note something that was dropped; the session takes the list over."""
    written.append((action, what, path))


# (module, attribute path, keyword arguments to force) of calls that open a connection.
FORCED = (
    ("wandb", "init", {"mode": "disabled"}),
    ("swanlab", "init", {"mode": "disabled"}),
    ("neptune", "init_run", {"mode": "debug"}),
    ("comet_ml", "Experiment.__init__", {"disabled": True}),
    ("comet_ml", "ExistingExperiment.__init__", {"disabled": True}),
    ("trackio", "init", {"space_id": None}),
)

# (module, attribute paths) of functions that do nothing and give None.
SILENT = (
    ("mlflow", "set_tracking_uri set_registry_uri log_artifact log_artifacts log_model".split()),
    ("transformers.utils.hub", ["PushToHubMixin.push_to_hub"]),
    ("transformers.trainer", ["Trainer.push_to_hub", "Trainer._push_from_checkpoint"]),
    ("lightning.pytorch.loggers.wandb", ["WandbLogger.after_save_checkpoint"]),
    ("pytorch_lightning.loggers.wandb", ["WandbLogger.after_save_checkpoint"]),
)

# huggingface_hub's methods that change a repository.
PUSHES = (
    """upload_file upload_folder upload_large_folder create_repo create_commit delete_repo delete_file delete_files delete_folder
create_branch delete_branch create_tag delete_tag super_squash_history update_repo_settings update_repo_visibility move_repo
create_pull_request create_discussion add_space_secret add_space_variable duplicate_space request_space_hardware create_collection
create_webhook preupload_lfs_files create_inference_endpoint""".split()
)


def watch(settings) -> None:
    """Have each of these libraries changed as soon as it is imported."""
    if settings.allow_writes:
        return
    for module, path, forced in FORCED:
        imports.after(module, functools.partial(_force, path, forced))
    for module, names in SILENT:
        imports.after(module, functools.partial(_silence, names))
    imports.after("clearml", _clearml_offline)
    imports.after("huggingface_hub.hf_api", _hold_pushes)


def _force(path: str, forced: dict, module) -> None:
    owner = module
    *way, name = path.split(".")
    for step in way:
        owner = getattr(owner, step, None)
    inner = getattr(owner, name, None)
    if inner is None:
        return

    @functools.wraps(inner)
    def call(*args, **kwargs):
        tell("dropped", module.__name__ + "." + path.split(".")[0])
        kwargs.update(forced)
        return inner(*args, **kwargs)

    setattr(owner, name, call)


def _silence(names, module) -> None:
    for path in names:
        owner = module
        *way, name = path.split(".")
        for step in way:
            owner = getattr(owner, step, None)
        if hasattr(owner, name):
            setattr(owner, name, _nothing(module.__name__.split(".")[0] + "." + name))


def _nothing(what: str):
    def nothing(*args, **kwargs):
        tell("dropped", what, str(args[0]) if args and isinstance(args[0], str) else "")

    return nothing


def _clearml_offline(module) -> None:
    tell("dropped", "clearml")
    module.Task.set_offline(True)


def _hold_pushes(module) -> None:
    """Methods of HfApi, and the functions that the module made of them."""
    for name in PUSHES:
        if hasattr(module.HfApi, name):
            held = _held(module, name)
            setattr(module.HfApi, name, held)
            if hasattr(module, name):
                setattr(module, name, functools.partial(held, getattr(module, "api", None)))


def _held(module, name: str):
    inner = getattr(module.HfApi, name)

    @functools.wraps(inner)
    def call(self, *args, **kwargs):
        repo = kwargs.get("repo_id") or (args[0] if args and isinstance(args[0], str) else "")
        tell("dropped", "huggingface_hub." + name, str(repo))
        if name == "create_repo":
            return module.RepoUrl("https://huggingface.co/%s" % repo)
        if kwargs.get("run_as_future"):
            from concurrent.futures import Future

            future = Future()
            future.set_result(None)
            return future
        commit = getattr(module, "CommitInfo", None)
        if commit is None or not name.startswith(("upload_", "create_commit")):
            return None
        url = "https://huggingface.co/%s/commit/%s" % (repo, "0" * 40)
        return commit(commit_url=url, commit_message="", commit_description="", oid="0" * 40)

    return call

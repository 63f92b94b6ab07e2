"""Builds the model of a job from its family's row."""
import torch

import adapt
import draw
import vision


def preload(names):
    """Imports what children need, once, before they are forked."""
    if "torchvision" in names:
        import torchvision  # noqa: F401
    import transformers

    adapt.preload()
    for name in names:
        getattr(transformers, name, None)


def structure_of(row, job):
    return next((s for s in row.get("structures", []) if s["name"] == job.get("structure")), {})


def config_of(row, job):
    """The config.json of a drawn model."""
    structure, values = structure_of(row, job), {}
    for_task = row.get("config_for", {}).get(job["task"], {})
    for part in (row.get("config", {}), for_task, first_of_lists(structure.get("when", {})), structure.get("config", {})):
        for key, value in part.items():
            put(values, key, value)
    for d in row["dims"]:
        if d["name"] not in job["dims"] or d["name"] == "C" and "classification" not in job["task"]:
            continue
        for key in ([d["key"]] if d.get("key") else []) + d.get("also", []):
            put(values, key, job["dims"][d["name"]])
        if d.get("ratio"):
            put(values, d["ratio"]["key"], job["dims"][d["name"]] / job["dims"][d["ratio"]["of"]])
    for s in row["stacks"]:
        if s["count"].get("key"):
            put(values, s["count"]["key"], job["dims"][s["count"]["name"]])
    if row["family"] == "gpt_neo":  # wants its types to add up to the number of layers
        n = job["dims"]["L"]
        values["attention_types"] = [[["global", "local"], n // 2]] + ([[["global"], 1]] if n % 2 else [])
    return values


def first_of_lists(when):
    """A condition may allow several values; the first is recorded."""
    return {k: v[0] if isinstance(v, list) else v for k, v in when.items()}


def put(values, key, value):
    """Sets a key that may be nested, "text_config.hidden_size"."""
    *path, last = key.split(".")
    for p in path:
        values = values.setdefault(p, {})
    values[last] = value


def model_of(row, job):
    if row["library"] == "torchvision":
        return vision.model_of(job)
    import transformers

    cls = getattr(transformers, row["classes"][job["task"]])
    try:
        model = cls._from_config(hugging_face(row, job, job["attention"]))
    except ValueError as e:  # a family without such a kernel falls back by itself
        if "attention" not in str(e) and "sdpa" not in str(e):
            raise
        model = cls._from_config(hugging_face(row, job, "eager"))
    for name in structure_of(row, job).get("untie", []):  # as a checkpoint with a head of its own does
        module = model.get_submodule(name)
        module.weight = torch.nn.Parameter(module.weight.detach().clone())
    return model


def hugging_face(row, job, attention):
    import transformers

    config = transformers.AutoConfig.for_model(row["model_types"][0], **config_of(row, job))
    for key, value in structure_of(row, job).get("after", {}).items():
        setattr(config, key, value)
    config._attn_implementation = attention
    return config


def stacks_of(row, model, job):
    """The layers of each stack: name, modules in order, how often they are called, their kinds."""
    found = []
    for s in row["stacks"]:
        at = model.get_submodule(s.get("paths", {}).get(job["task"], s["path"]))
        modules = [at] if s.get("shared") else list(at)  # one that is called several times stands alone
        count = job["dims"][s["count"]["name"]]
        kinds = draw.kinds_of(s, config_of(row, job), count)
        found.append((s["name"], modules, count, kinds))
    return found


class mark_construction:
    """Marks where each layer is constructed, given what a model on the meta device looks like."""

    def __init__(self, marks, stacks):
        self.marks, self.order, self.classes = marks, [], set()
        for name, modules, count, _ in stacks:
            if len(modules) == count:
                self.order += [(name, i, type(m)) for i, m in enumerate(modules)]
                self.classes |= {type(m) for m in modules}

    def __enter__(self):
        self.saved, self.at = {c: c.__init__ for c in self.classes}, 0
        for c in self.classes:
            c.__init__ = self.wrapped(c.__init__)

    def wrapped(self, init):
        def construct(module, *args, **kwargs):
            stack, i, _ = self.order[self.at]
            self.marks.part(stack + ".load", i)
            init(module, *args, **kwargs)
            self.at += 1
            if self.at == len(self.order) or self.order[self.at][0] != stack:
                self.marks.part(stack + ".loaded")

        return construct

    def __exit__(self, *_):
        for c, init in self.saved.items():
            c.__init__ = init


def dtype_of(precision):
    return {"bf16": torch.bfloat16, "fp16": torch.float16}.get(precision, torch.float32)

"""Trains one recorded case, as its recipe says, for three steps.

usage: case.py CASES.json ID

The cases are those of a truth file: a model (a Hugging Face configuration, or a name of torchvision), a task and
a recipe. What the recipe's words mean stands in the README beside the files.
"""
from __future__ import annotations

import json
import sys

import torch

OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1),
    "sgd-momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    "adam": lambda p: torch.optim.Adam(p, lr=1e-4),
    "adamw": lambda p: torch.optim.AdamW(p, lr=1e-4),
    "adamw-fused": lambda p: torch.optim.AdamW(p, lr=1e-4, fused=True),
    "adamw-forloop": lambda p: torch.optim.AdamW(p, lr=1e-4, foreach=False),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=1e-4),
    "adagrad": lambda p: torch.optim.Adagrad(p, lr=1e-4),
    "adafactor": lambda p: torch.optim.Adafactor(p, lr=1e-4),
}
AUTOCAST = {"amp-bf16": torch.bfloat16, "amp-fp16": torch.float16}


def from_config(config: dict, attention: str) -> torch.nn.Module:
    import transformers

    values = {k: v for k, v in config.items() if k != "model_type"}
    cls = getattr(transformers, config["architectures"][0])
    for choice in (attention, "eager"):  # a family without that kernel falls back by itself
        made = transformers.AutoConfig.for_model(config["model_type"], **values)
        made._attn_implementation = choice
        try:
            return cls._from_config(made)
        except ValueError:
            if choice == "eager":
                raise
    raise AssertionError("unreachable")


def from_torchvision(name: str) -> torch.nn.Module:
    import torchvision

    if hasattr(torchvision.models, name):
        return getattr(torchvision.models, name)(weights=None)
    return getattr(torchvision.models.segmentation, name)(weights=None, weights_backbone=None)


def model_of(case: dict) -> torch.nn.Module:
    recipe = case["recipe"]
    with torch.device("cuda"):
        model = from_config(case["config"], recipe.get("attention", "sdpa")) if "config" in case else from_torchvision(case["model"])
    model.train()
    if recipe.get("channels_last"):
        model = model.to(memory_format=torch.channels_last)
    full = recipe.get("checkpoint") == "full"
    if full:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    if hasattr(model, "config"):
        model.config.use_cache = False
    if recipe.get("lora"):
        import peft

        model = peft.get_peft_model(model, peft.LoraConfig(r=recipe["lora"]["r"], target_modules=recipe["lora"]["targets"]))
        if full:
            model.enable_input_require_grads()
    return model


def batch_of(case: dict):
    recipe, task = case["recipe"], case["task"]
    n = recipe["batch"]
    if "seq" in recipe:
        ids = torch.zeros(n, recipe["seq"], dtype=torch.long, device="cuda")
        if task != "sequence-classification":
            return {"input_ids": ids, "labels": ids.clone()}
        return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": torch.zeros(n, dtype=torch.long, device="cuda")}
    side = recipe["image"]
    dtype = torch.bfloat16 if recipe["precision"] == "bf16" and task == "image-classification" else torch.float32
    images = torch.zeros(n, 3, side, side, device="cuda", dtype=dtype)
    if recipe.get("channels_last"):
        images = images.contiguous(memory_format=torch.channels_last)
    shape = (n, side, side) if task == "semantic-segmentation" else (n,)
    return images, torch.zeros(*shape, dtype=torch.long, device="cuda")


def forward(model: torch.nn.Module, data):
    """The output, which the recorded loop keeps until backward is over, and the loss."""
    if isinstance(data, dict):
        out = model(**data)
        return out, out.loss
    out = model(data[0])
    out = out["out"] if isinstance(out, dict) else out
    return out, torch.nn.functional.cross_entropy(out, data[1])


def run(case: dict) -> None:
    recipe = case["recipe"]
    if recipe["precision"] == "bf16":
        torch.set_default_dtype(torch.bfloat16)
    model = model_of(case)
    params = [p for p in model.parameters() if p.requires_grad]
    infer = case.get("mode") == "inference"
    amp = AUTOCAST.get(recipe["precision"])
    optimizer = None if infer else OPTIMIZERS[recipe["optimizer"]](params)
    scaler = torch.amp.GradScaler("cuda") if recipe["precision"] == "amp-fp16" and not infer else None
    for _ in range(3):
        for _ in range(recipe.get("accumulate", 1)):
            data = batch_of(case)
            with torch.autocast("cuda", dtype=amp, enabled=amp is not None), torch.set_grad_enabled(not infer):
                out, loss = forward(model, data)
            if not infer:
                (scaler.scale(loss) if scaler else loss).backward()
            del out, loss, data
        if infer:
            continue
        if recipe.get("clip"):
            if scaler:
                scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(params, 1.0)
        if scaler:
            scaler.step(optimizer)
            scaler.update()
        else:
            optimizer.step()
        optimizer.zero_grad(set_to_none=True)


if __name__ == "__main__":
    with open(sys.argv[1]) as f:
        run(next(c for c in json.load(f)["cases"] if c["id"] == sys.argv[2]))

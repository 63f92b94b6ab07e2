"""FSDP2 as the first of several processes sees it, with collectives that do nothing.

Each layer is a group of parameters, and the rest is one. Precision amp-bf16 is
what MixedPrecisionPolicy makes of float32 shards; gradients are reduced in
float32 whatever the precision.
"""
import random

import torch

import build


def model(row, job, shape, marks):
    """The sharded model of a job, from one on the meta device."""
    import torch.distributed as dist
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
    from torch.testing._internal.distributed.fake_pg import FakeStore

    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=job["dims"]["D"])
    half = job["precision"] in ("bf16", "amp-bf16")
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32) if half else MixedPrecisionPolicy()
    shape = as_deep(row, job, shape)
    stacks = build.stacks_of(row, shape, job)
    for _, layers, _, _ in stacks:
        for layer in layers:
            fully_shard(layer, mp_policy=policy)
    fully_shard(shape, mp_policy=policy)
    materialise(shape, stacks, marks)
    return shape


def as_deep(row, job, shape):
    """The model with a number of layers that the plan picks, where those that are drawn end with some kinds only."""
    for stack in row["stacks"]:
        name = stack["count"]["name"]
        if name in job["pick"]:
            job["dims"][name] = random.Random(job["seed"]).choice(job["pick"][name])
            with torch.device("meta"):
                shape = build.model_of(row, job)
    return shape


def materialise(sharded, stacks, marks):
    """Gives shards their memory, with marks where those of each layer begin."""
    for name, layers, count, _ in stacks:
        for i, layer in enumerate(layers):
            layer._apply = marked(layer, name, i, count, marks)
    sharded.to_empty(device="cuda")
    for _, layers, _, _ in stacks:
        for layer in layers:
            del layer._apply


def marked(layer, stack, i, count, marks):
    def apply(fn, recurse=True):
        marks.part(stack + ".load", i)
        type(layer)._apply(layer, fn, recurse)
        if i == count - 1:
            marks.part(stack + ".loaded")
        return layer

    return apply

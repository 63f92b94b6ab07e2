"""FSDP2 as the first of several processes sees it, with collectives that do nothing.

Each layer is a group of parameters, and the rest is one. Precision amp-bf16 is
what MixedPrecisionPolicy makes of float32 shards; gradients are reduced in
float32 whatever the precision.
"""
import math

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
    stacks = build.stacks_of(row, shape, job)
    for _, layers, _, _ in stacks:
        for layer in layers:
            fully_shard(layer, mp_policy=policy)
    fully_shard(shape, mp_policy=policy)
    note_groups(job, shape, stacks)
    materialise(shape, stacks, marks)
    return shape


def note_groups(job, sharded, stacks):
    """Sizes of what groups of parameters take; internal/symbolic/shard.go does the same."""
    inside, layer = set(), []
    for _, layers, _, _ in stacks:
        for module in layers:
            layer = list(module.parameters())
            inside |= {id(p) for p in layer}
    rest = [p for p in sharded.parameters() if id(p) not in inside]
    for group, parameters in (("l", layer), ("r", rest)):
        elements = [p.to_local().numel() for p in parameters]
        job["dims"]["P" + group] = sum(elements)
        job["dims"]["M" + group] = scattered(elements)
        for size in (2, 4):
            job["dims"][f"C{group}{size}"] = gathered(elements, size, job["dims"]["D"])


TILE = 2048  # bytes that a block of threads copies at once


def scattered(elements):
    """Bytes of the table that gradients are gathered by before they are reduced."""
    return 8 * (6 * len(elements) + 2 + sum(-(-4 * n // TILE) for n in elements))


def gathered(elements, size, cards):
    """Bytes of the table that gathered parameters are copied by."""
    card = torch.cuda.get_device_properties(0)
    limit = card.multi_processor_count * card.max_threads_per_multi_processor // 128 * 2
    blocks = sum(-(-size * n // TILE) for n in elements)
    factor = -(-blocks * cards // limit)
    chunks = min(math.isqrt(factor - 1) + 1, cards)
    tile = TILE * -(-factor // chunks)
    return 8 * (4 * len(elements) + 1 + sum(-(-size * n // tile) for n in elements))


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

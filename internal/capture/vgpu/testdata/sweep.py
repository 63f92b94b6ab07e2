"""Runs PyTorch's own operator database on the virtual GPU: every operator with
every sample input, forward and backward, in a child process.

usage: sweep.py [NAME...]     from vgpuenv, with --log; NAME selects operators

What it looks for: a child that dies or hangs, an error that names one of NVIDIA's
libraries, and memory out of proportion to the samples, which are a few kilobytes:
an output that a library left unwritten. Errors that follow from values being
unknown are counted and listed by their text. Ends with 1 when it found something.
"""
from __future__ import annotations

import collections
import ctypes
import importlib.util
import json
import os
import re
import select
import subprocess
import sys
import types
import unittest

SECONDS = 120  # without a result
SAMPLES = 40
MEMORY = 160 << 20  # two cuBLAS workspaces of 32 MiB are not the operator's
LIBRARIES = ("CUDA error", "CUDA driver", "CUBLAS", "cuBLAS", "cuDNN", "CUDNN", "cusolver", "CUSOLVER", "CUFFT", "cuFFT", "cusparse",
             "CUSPARSE", "NVRTC", "nvrtc", "NCCL", "out of memory", "INTERNAL ASSERT")
OF_VALUES = ("TensorModeKernel.cu",)  # looks for a value on the device and asserts that it is there


def numbers(version):
    return tuple(int(part) for part in re.findall(r"\d+", str(version))[:3])


def stand_in(name, **attributes):
    if importlib.util.find_spec(name.partition(".")[0]) is None:
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__dict__.update(attributes)
    return sys.modules.get(name)


def import_database():
    # PyTorch's test support imports packages that only other parts of it use.
    stand_in("expecttest", TestCase=unittest.TestCase, ACCEPT=False, assert_expected_inline=None)
    stand_in("yaml", SafeLoader=object, SafeDumper=object, YAMLError=Exception, load=None)
    stand_in("packaging", version=stand_in("packaging.version", parse=numbers, Version=numbers))
    from torch.testing._internal.common_methods_invocations import op_db
    return op_db


def tensors(value):
    import torch
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors(item)
    elif isinstance(value, dict):
        yield from tensors(list(value.values()))


def run_sample(op, sample, gradients):
    import torch
    out = op(sample.input, *sample.args, **sample.kwargs)
    if not gradients:
        return
    outs = [t for t in tensors(out) if t.requires_grad and t.is_floating_point() or t.is_complex() and t.requires_grad]
    outs = [t for t in outs if t.layout == torch.strided]
    if outs:
        sum(t.abs().sum() for t in outs).backward()


def run_operator(op, report):
    import torch
    supported = op.supported_dtypes("cuda")
    dtypes = [t for t in (torch.float32, torch.float16, torch.complex64, torch.int64, torch.bool) if t in supported] or sorted(supported, key=str)[:1]
    if torch.float32 in dtypes:
        dtypes = [t for t in dtypes if t not in (torch.int64, torch.bool)]
    for dtype in dtypes:
        gradients = op.supports_autograd and (dtype.is_floating_point or dtype.is_complex)
        try:
            samples = op.sample_inputs("cuda", dtype, requires_grad=gradients)
            for count, sample in enumerate(samples):
                if count == SAMPLES:
                    break
                torch.cuda.reset_peak_memory_stats()
                before = torch.cuda.memory_allocated()
                try:
                    run_sample(op, sample, gradients)
                except Exception as error:  # noqa: BLE001: every kind is a result
                    report(kind="error", dtype=str(dtype), text=f"{type(error).__name__}: {error}"[:300])
                grown = torch.cuda.max_memory_allocated() - before
                if grown > MEMORY:
                    report(kind="memory", dtype=str(dtype), text=str(grown))
                report(kind="sample")
        except Exception as error:  # noqa: BLE001: making the samples failed
            report(kind="samples", dtype=str(dtype), text=f"{type(error).__name__}: {error}"[:300])


def full_name(op):
    return op.name + ("." + op.variant_test_name if op.variant_test_name else "")


def worker(first, names):
    """Runs the operators from a position on and writes a line for each result."""
    out = os.fdopen(os.dup(1), "w", buffering=1)
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, 1)
    os.dup2(devnull, 2)
    operators = import_database()
    ctypes.CDLL(None).plimsoll_vgpu_watch_allocator()
    for position, op in enumerate(operators):
        if position < first or names and full_name(op) not in names:
            continue
        name = full_name(op)

        def report(**fields):
            out.write(json.dumps(dict(fields, position=position, name=name)) + "\n")

        report(kind="begin")
        run_operator(op, report)
    out.write('{"kind": "end"}\n')
    out.flush()
    os._exit(0)


def lines_of(process):
    """Lines that a worker writes, and None when it is silent for too long."""
    text = b""
    while True:
        ready, _, _ = select.select([process.stdout], [], [], SECONDS)
        if not ready:
            yield None
            return
        chunk = os.read(process.stdout.fileno(), 65536)
        if not chunk:
            return
        text += chunk
        *whole, text = text.split(b"\n")
        yield from whole


def run_all(names):
    """Every result of every operator; a worker that died or hung is replaced by
    one that begins after the operator it died of."""
    first = 0
    while True:
        process = subprocess.Popen([sys.executable, __file__, "--worker", str(first), *names], stdout=subprocess.PIPE)
        last = {"position": first, "name": "import"}
        ending = ""
        for line in lines_of(process):
            if line is None:
                ending = "hung"
                process.kill()
                break
            last = dict(last, **json.loads(line))
            yield last
        status = process.wait()
        if last.get("kind") == "end":
            return
        yield dict(last, kind="death", text=ending or f"died with {status}")
        if last["name"] == "import":
            return
        first = last["position"] + 1


def main(names):
    found, texts, totals = collections.Counter(), collections.Counter(), collections.Counter()
    for line in run_all(names):
        kind, text = line["kind"], line.get("text", "")
        if kind == "begin":
            totals["operators"] += 1
        elif kind == "sample":
            totals["samples"] += 1
        elif kind in ("memory", "death") or any(word in text for word in LIBRARIES) and not any(word in text for word in OF_VALUES):
            found[f"{line['name']} {line.get('dtype', '')}: {kind}: {text}"] += 1
        elif kind != "end":
            totals["errors of values"] += 1
            texts[f"{line['name']}: {text[:160]}"] += 1
    for text, count in texts.most_common():
        print(f"values  {count:4} x {text!r}")
    for text, count in found.most_common():
        print(f"FOUND   {count:4} x {text!r}")
    print(", ".join(f"{count} {what}" for what, count in totals.items()))
    return 1 if found else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        worker(int(sys.argv[2]), sys.argv[3:])
    sys.exit(main(sys.argv[1:]))

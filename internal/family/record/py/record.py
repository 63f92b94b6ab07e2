"""Records training steps of small models, with marks where layers begin.

usage: record.py [CLASS...] < JOBS > RECORDINGS      (on the virtual GPU)

CLASS are those of Transformers that jobs use, or "torchvision"; they are
imported once. JOBS are lines of JSON, each what there is to know of a family,
and a model of it to build and a way to run it; a line of RECORDINGS answers each
of them: the allocator's events with the operator that made them, marks, and the
places of parameters and gradients. Every job runs in a forked child. The README
in the folder above describes both formats.
"""
import bisect
import contextlib
import gc
import json
import os
import signal
import sys
import time
import traceback

import torch

import build
import draw
from loop import run
from marks import Marks


def record(row, job):
    marks = Marks()
    torch.cuda.memory._record_memory_history(max_entries=10_000_000, stacks="all", context="alloc")
    out = run(row, job, marks)
    snapshot = torch.cuda.memory._snapshot()
    torch.cuda.memory._record_memory_history(enabled=None)
    trace = snapshot["device_traces"][0]
    events, labels = compact(trace)
    places = out.pop("places")
    return {"events": events, "labels": labels, "marks": marks.list, "places": numbered(places, trace), **out}


def numbered(places, trace):
    """Addresses as numbers of the allocations that they lie in."""
    at = live_at(trace, {places["at"]} | {g["at"] for g in places["gradients"].values()})
    return {
        "parameters": [[n, s, t, at[places["at"]](a), g] for n, s, t, a, g in places["parameters"]],
        "buffers": [[n, s, t, at[places["at"]](a), g] for n, s, t, a, g in places["buffers"]],
        "gradients": {scope: [at[g["at"]](a) for a in g["addresses"]] for scope, g in places["gradients"].items()},
    }


def live_at(trace, wanted):
    """For each wanted number of events, a function from an address to the allocation that holds it, -1 for none."""
    live, count, n, found = {}, 0, 0, {}

    def note():
        if n in wanted and n not in found:
            starts = sorted(live)
            blocks = dict(live)

            def number(address):
                i = bisect.bisect_right(starts, address) - 1
                if address == 0 or i < 0 or address >= starts[i] + max(blocks[starts[i]][1], 1):
                    return -1
                return blocks[starts[i]][0]

            found[n] = number

    note()
    for e in trace:
        if e["action"] == "alloc":
            live[e["addr"]] = (count, e["size"])
            count += 1
        elif e["action"] == "free_completed":
            del live[e["addr"]]
        else:
            continue
        n += 1
        note()
    return found


def compact(trace):
    """Events as numbers: [bytes, label] for an allocation, -1-n for the free of the n-th one."""
    events, labels, live, count, names = [], {}, {}, 0, {}
    for e in trace:
        action = e["action"]
        if action == "alloc":
            label = label_of(e["frames"], names)
            events.append([e["size"], labels.setdefault(label, len(labels))])
            live[e["addr"]] = count
            count += 1
        elif action == "free_completed":
            events.append(-1 - live.pop(e["addr"]))
    return events, list(labels)


def label_of(frames, names):
    """The operators on the stack, from the innermost outwards, the node of the
    backward pass, and "raw" where a kernel asked for memory that is no tensor."""
    found, node, tensor = [], "", False
    for f in frames:
        name = f["name"]
        if name not in names:
            names[name] = meaning_of(name)
        kind, word = names[name]
        if kind == "operator" and (not found or found[-1] != word):
            found.append(word)
        elif kind == "node":
            node = node or word
        elif kind == "tensor":
            tensor = True
    if len(found) > 1 and found[0].startswith("empty"):
        found = found[1:]
    return " ".join(found[:3] + [node] * bool(node) + ["raw"] * (not tensor))


NOTED = ("getCurrentCUDABlasHandle", "getWorkspace", "AccumulateGrad")


def meaning_of(name):
    if "at::_ops::" in name:
        return "operator", name.split("at::_ops::", 1)[1].split("::", 1)[0]
    if "autograd::generated::" in name:
        return "node", name.split("autograd::generated::", 1)[1].split("::", 1)[0]
    if "empty_cuda" in name or "empty_strided_cuda" in name or "resize_cuda" in name or "empty_generic" in name:
        return "tensor", ""
    for n in NOTED:
        if n in name:
            return "operator", n
    return "", ""


LONGEST = 600  # seconds that a recording may take; most take a tenth of one


def child(row, job, pipe):
    start = time.time()
    try:
        with contextlib.redirect_stdout(sys.stderr):
            out = record(row, job)
    except Exception as e:  # said in the answer, and by the driver
        if os.environ.get("RECORD_TRACEBACK"):
            traceback.print_exc()
        out = {"error": f"{type(e).__name__}: {e}"[:500]}
    out["seconds"] = round(time.time() - start, 2)
    with os.fdopen(pipe, "w") as f:
        json.dump(out, f, separators=(",", ":"))


def main():
    build.preload(sys.argv[1:])
    gc.freeze()
    for line in sys.stdin:
        given = json.loads(line)
        row, job = given["row"], given["job"]
        if "dims" not in job:
            job["dims"] = draw.dims(row, build.structure_of(row, job), job)
        r, w = os.pipe()
        pid = os.fork()
        if pid == 0:
            signal.alarm(LONGEST)
            os.close(r)
            try:
                child(row, job, w)
            finally:
                os._exit(0)
        os.close(w)
        with os.fdopen(r) as f:
            text = f.read()
        os.waitpid(pid, 0)
        try:
            out = json.loads(text)
        except ValueError:  # nothing, or not all of it
            out = {"error": "the process of the recording died"}
        print(json.dumps({"job": job, **out}, separators=(",", ":")), flush=True)


main()

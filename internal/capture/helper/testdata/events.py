"""Records a script's events and prints them, so that two runs can be compared."""
import json
import os

import torch


def begin():
    """Record from now on; under the helper the history is on already."""
    torch.manual_seed(0)
    torch.cuda.init()
    if hasattr(torch._C, "_cuda_record_memory_history"):
        torch.cuda.memory._record_memory_history(max_entries=1000000, context=None)
    else:
        torch.cuda.memory._record_memory_history(True, trace_alloc_max_entries=1000000, trace_alloc_record_context=True)


def end():
    """Write actions and sizes. Frees between two allocations are a set: autograd and autocast free in the order of pointers."""
    events, frees = [], []
    for event in torch.cuda.memory._snapshot()["device_traces"][0]:
        action, size = event["action"], event["size"]
        if action.startswith("free"):
            frees.append([action, size])
        elif action != "snapshot":
            events += sorted(frees) + [[action, size]]
            frees = []
    with open(os.environ["EVENTS"], "w") as file:
        json.dump(events + sorted(frees), file)
    os._exit(0)

"""The memory history is PyTorch's own."""
import torch

version = tuple(int(n) for n in torch.__version__.split(".")[:2])
if version >= (2, 1):
    torch.cuda.memory._record_memory_history(max_entries=100000)
else:
    torch.cuda.memory._record_memory_history(True, trace_alloc_max_entries=100000, trace_alloc_record_context=True)
kept = [torch.empty(1 << 20, device="cuda") for _ in range(10)]
snapshot = torch.cuda.memory._snapshot()
actions = [event["action"] for event in snapshot["device_traces"][0]]
assert actions.count("alloc") == 10 and "segment_alloc" in actions, actions
assert sum(s["total_size"] for s in snapshot["segments"]) == torch.cuda.memory_reserved()

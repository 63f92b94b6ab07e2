"""Too much memory is PyTorch's own error, with this process's memory in its text, and can be survived."""
import re
import torch

CONTEXT = 500 << 20
held = []
try:
    while True:
        held.append(torch.empty(1 << 30, device="cuda"))
except torch.cuda.OutOfMemoryError as error:
    text = str(error)
assert "Tried to allocate 4.00 GiB" in text, text
version = tuple(int(n) for n in torch.__version__.split(".")[:2])
if version >= (2, 1):
    said = re.search(r"this process has ([\d.]+) GiB memory in use", text)
    assert said, text
    used = (torch.cuda.memory_reserved() + CONTEXT) / 2**30
    assert abs(float(said.group(1)) - used) < 0.01, (text, used)
assert torch.cuda.memory_stats()["num_ooms"] == 1
reserved = torch.cuda.memory_reserved()
del held
torch.cuda.empty_cache()
assert torch.cuda.memory_reserved() == 0 and reserved > 0
torch.zeros(10, device="cuda").add_(1)

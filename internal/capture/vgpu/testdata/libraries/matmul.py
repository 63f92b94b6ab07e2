"""Matrix products of every kind that PyTorch sends to cuBLAS and cuBLASLt, and
numbers that cuBLAS gives to the host."""
import torch
from torch import nn

x = torch.randn(16, 32, device="cuda", requires_grad=True)
for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.complex64):
    a = torch.zeros(16, 32, device="cuda", dtype=dtype)
    b = torch.zeros(4, 32, 8, device="cuda", dtype=dtype)
    a @ a.T, a[0] @ a[0], torch.mv(a, a[0]), torch.outer(a[0], a[0])
    torch.bmm(a.expand(4, 16, 32), b), torch.baddbmm(torch.zeros(4, 16, 8, device="cuda", dtype=dtype), a.expand(4, 16, 32), b)
    torch.addmm(a[0], a, a.new_zeros(32, 32)), torch.vdot(a[0], a[0])
nn.Sequential(nn.Linear(32, 64), nn.GELU(approximate="tanh"), nn.Linear(64, 8)).cuda()(x).sum().backward()
i8 = torch.zeros(32, 32, device="cuda", dtype=torch.int8)
if hasattr(torch, "_int_mm"):
    torch._int_mm(i8, i8.t().contiguous().t())
if hasattr(torch, "float8_e4m3fn") and torch.cuda.get_device_capability() >= (8, 9):
    a = torch.zeros(32, 32, device="cuda").to(torch.float8_e4m3fn)
    one = torch.ones((), device="cuda")
    torch._scaled_mm(a, a.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
torch.trapz(x.detach()), torch.linalg.multi_dot([x, x.T, x])
assert torch.cuda.max_memory_allocated() < 128 << 20, torch.cuda.max_memory_allocated()

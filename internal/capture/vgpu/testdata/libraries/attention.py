"""Scaled dot product attention through every backend the card has, cuDNN's graph
interface among them."""
import torch
import torch.nn.functional as F

MIB = 1 << 20


def step(dtype, **options):
    q, k, v = (torch.randn(2, 4, 128, 64, device="cuda", dtype=dtype, requires_grad=True) for _ in range(3))
    F.scaled_dot_product_attention(q, k, v, **options).float().sum().backward()
    assert q.grad.shape == q.shape


for dtype in (torch.float32, torch.float16, torch.bfloat16):
    for options in ({}, {"is_causal": True}, {"dropout_p": 0.1}, {"attn_mask": torch.zeros(128, 128, device="cuda", dtype=dtype)}):
        step(dtype, **options)
try:
    from torch.nn.attention import SDPBackend, sdpa_kernel
except ImportError:
    sdpa_kernel = None
if sdpa_kernel and hasattr(SDPBackend, "CUDNN_ATTENTION") and torch.cuda.get_device_capability() >= (9, 0):
    with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
        for options in ({}, {"is_causal": True}, {"dropout_p": 0.125}):
            step(torch.bfloat16, **options)
torch.nn.MultiheadAttention(64, 4, batch_first=True).cuda().eval()(*[torch.zeros(2, 8, 64, device="cuda")] * 3)
assert torch.cuda.max_memory_allocated() < 96 * MIB, torch.cuda.max_memory_allocated()  # cuBLAS: 32 MiB a thread

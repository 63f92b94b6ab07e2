"""Products with sparse matrices, their conversions and solutions."""
import torch

torch.cuda.reset_peak_memory_stats()
dense = torch.eye(16, device="cuda")
for dtype in (torch.float32, torch.float64):
    index = torch.arange(16).repeat(2, 1).cuda()
    coo = torch.sparse_coo_tensor(index, torch.ones(16, dtype=dtype, device="cuda"), (16, 16))._coalesced_(True)
    csr = torch.sparse_csr_tensor(torch.arange(17, device="cuda"), torch.arange(16, device="cuda"), torch.ones(16, dtype=dtype, device="cuda"), (16, 16))
    other = dense.to(dtype)
    out = torch.sparse.mm(coo, other)
    assert out.shape == (16, 16)
    csr @ other, csr @ other[0]
    torch.addmm(other, csr, other)
    torch.sparse.addmm(other, coo, other)
    torch.sparse.sampled_addmm(csr, other, other)
    torch.sparse.mm(coo, coo)
    csr @ csr
    torch.add(csr, csr)
    torch.triangular_solve(other, csr, upper=True)
    torch.triangular_solve(other[:, :1], csr, upper=True)
    csc = torch.sparse_csc_tensor(torch.arange(17, device="cuda"), torch.arange(16, device="cuda"), torch.ones(16, dtype=dtype, device="cuda"), (16, 16))
    csc @ other
    bsr = torch.sparse_bsr_tensor(torch.arange(5, device="cuda"), torch.arange(4, device="cuda"), torch.ones(4, 4, 4, dtype=dtype, device="cuda"), (16, 16))
    bsr @ other, torch.addmv(other[0], bsr, other[0])
    torch.triangular_solve(other, bsr, upper=True)
    torch.triangular_solve(other[:, :1], bsr, upper=True)
factor = torch.ones(16, 16, dtype=torch.float64, device="cuda", requires_grad=True)
torch.sparse.mm(coo, factor).sum().backward()
assert factor.grad.shape == factor.shape
assert torch.cuda.max_memory_allocated() < 96 << 20, torch.cuda.max_memory_allocated()  # cuBLAS's workspaces, one a thread, are 64 MiB of it

if hasattr(torch, "_cslt_compress") and torch.cuda.get_device_capability() >= (8, 0) and torch.backends.cusparselt.is_available():
    w = torch.zeros(128, 128, device="cuda", dtype=torch.float16)
    compressed = torch._cslt_compress(w)
    assert compressed.numel() == 128 * 128 * 9 // 16, compressed.shape
    torch._cslt_sparse_mm(compressed, torch.zeros(128, 128, device="cuda", dtype=torch.float16))

"""torch.linalg with every driver of cuSOLVER: work sizes are sensible, and every
factorisation reports success. MAGMA, when a script prefers it, is not tried: its
kernels are PyTorch's own, and the status that they would write is not known."""
import torch

linalg = torch.linalg
DTYPES = (torch.float32, torch.float64, torch.complex64, torch.complex128)


def run(dtype):
    for shape in ((6, 6), (3, 5, 5), (40, 40), (200, 8, 8), (2, 130, 130)):
        a = torch.eye(shape[-1], dtype=dtype, device="cuda").expand(shape).contiguous().requires_grad_()
        b = torch.ones(*shape[:-1], 2, dtype=dtype, device="cuda")
        for driver in (None, "gesvd", "gesvdj", "gesvda"):
            linalg.svd(a.detach(), full_matrices=False, driver=driver)
            linalg.svdvals(a.detach(), driver=driver)
        _, info = linalg.cholesky_ex(a)
        assert not info.any()
        lower = linalg.cholesky(a)
        torch.cholesky_solve(b, lower.detach()), torch.cholesky_inverse(lower.detach())
        linalg.qr(a), linalg.qr(a, mode="complete"), linalg.qr(a.detach(), mode="r")
        h, tau = torch.geqrf(a.detach())
        linalg.householder_product(h, tau)
        torch.ormqr(h, tau, b)
        linalg.eigh(a), linalg.eigvalsh(a)
        lu, pivots = linalg.lu_factor(a)
        linalg.lu_solve(lu.detach(), pivots, b), torch.lu_unpack(lu.detach(), pivots)
        linalg.lu(a)
        _, pivots, info = linalg.lu_factor_ex(a.detach())
        assert not info.any()
        linalg.solve(a, b).abs().sum().backward()
        linalg.inv(a), linalg.pinv(a), linalg.det(a), linalg.slogdet(a)
        linalg.lstsq(a.detach(), b)
        linalg.ldl_factor(a.detach())
        linalg.solve_triangular(a.detach(), b, upper=True)
        linalg.matrix_rank(a.detach()), linalg.cond(a.detach())


for backend in ("default", "cusolver"):
    if hasattr(torch.backends.cuda, "preferred_linalg_library"):
        torch.backends.cuda.preferred_linalg_library(backend)
    for dtype in DTYPES:
        run(dtype)
tall = torch.randn(64, 10, device="cuda", requires_grad=True)
linalg.svd(tall, full_matrices=True), linalg.qr(tall), linalg.lstsq(tall, torch.randn(64, 2, device="cuda"))
torch.svd_lowrank(tall.detach(), q=4), torch.pca_lowrank(tall.detach(), q=4)
assert torch.cuda.max_memory_allocated() < 128 << 20, torch.cuda.max_memory_allocated()

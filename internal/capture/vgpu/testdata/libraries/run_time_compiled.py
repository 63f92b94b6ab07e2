"""What PyTorch compiles with NVRTC at run time: jiterator kernels, special
functions, TorchScript's fuser."""
import torch

x = torch.linspace(0.1, 2, 100, device="cuda", requires_grad=True)
if hasattr(torch.cuda, "jiterator"):
    f = torch.cuda.jiterator._create_jit_fn("template <typename T> T my_kernel(T x, T y, T a) { return a * x + y; }", a=2)
    assert f(x.detach(), x.detach()).shape == x.shape
torch.special.i1(x), torch.special.erfcx(x), torch.special.bessel_j0(x), torch.special.zeta(x.detach() + 1, x.detach()), torch.lgamma(x)
torch.gcd(torch.ones(4, dtype=torch.int32, device="cuda"), torch.ones(4, dtype=torch.int32, device="cuda"))
torch.prod(torch.ones(8, device="cuda", dtype=torch.complex64))


@torch.jit.script
def fused(a, b):
    return torch.sigmoid(a) * b + a


for _ in range(3):
    fused(x, x).sum().backward()

"""Fourier transforms of every kind, with work areas of sensible size."""
import torch

torch.cuda.reset_peak_memory_stats()
for n in (16, 97, 131, 1000, 4099):
    x = torch.randn(3, n, device="cuda", requires_grad=True)
    y = torch.fft.rfft(x)
    assert y.shape == (3, n // 2 + 1)
    torch.fft.irfft(y, n=n).sum().backward()
    torch.fft.fft(x), torch.fft.hfft(x)
x = torch.randn(2, 3, 32, 48, device="cuda", dtype=torch.complex64, requires_grad=True)
torch.fft.ifft2(torch.fft.fft2(x)).abs().sum().backward()
torch.fft.fftn(torch.randn(2, 8, 8, 8, device="cuda", dtype=torch.float64), dim=(1, 2, 3))
torch.fft.rfftn(torch.randn(2, 4, 4, 4, 6, device="cuda"), dim=(1, 2, 3, 4))
torch.fft.rfft(torch.randn(2, 64, device="cuda", dtype=torch.float16))
torch.stft(torch.randn(2, 4000, device="cuda"), 256, hop_length=64, window=torch.ones(256, device="cuda"), return_complex=True)
assert torch.cuda.max_memory_allocated() < 16 << 20, torch.cuda.max_memory_allocated()

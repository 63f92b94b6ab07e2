"""Training steps of LSTM, GRU and plain RNN: weights are views of one buffer of
exactly their size, and no size is absurd."""
import itertools

import torch
from torch import nn

MIB = 1 << 20


def step(cell, batch_first, bidirectional, layers, dtype, dropout=0.0, proj=0):
    kind = {"lstm": nn.LSTM, "gru": nn.GRU, "tanh": nn.RNN, "relu": nn.RNN}[cell]
    extra = {"nonlinearity": cell} if kind is nn.RNN else {}
    if proj:
        extra["proj_size"] = proj
    net = kind(24, 32, num_layers=layers, bidirectional=bidirectional, batch_first=batch_first, dropout=dropout, **extra).cuda().to(dtype)
    own = sum(p.numel() * p.element_size() for p in net.parameters())
    storages = {p.untyped_storage().data_ptr() if hasattr(p, "untyped_storage") else p.storage().data_ptr() for p in net.parameters()}
    assert len(storages) == 1, "parameters are not views of one buffer"
    first = next(net.parameters())
    buffer = first.untyped_storage() if hasattr(first, "untyped_storage") else first.storage()
    assert buffer.nbytes() == own, (cell, buffer.nbytes(), own)
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    x = torch.randn(8, 6, 24, device="cuda", dtype=dtype, requires_grad=True)
    y, _ = net(x)
    y.float().sum().backward()
    grown = torch.cuda.max_memory_allocated() - before
    assert grown < 16 * MIB, (cell, grown)
    assert all(p.grad is not None and p.grad.shape == p.shape for p in net.parameters())
    net.eval()
    with torch.no_grad():
        net(x)


for cell, batch_first, bidirectional, layers in itertools.product(("lstm", "gru", "tanh", "relu"), (False, True), (False, True), (1, 3)):
    for dtype in (torch.float32, torch.float16):
        step(cell, batch_first, bidirectional, layers, dtype)
step("lstm", True, True, 2, torch.float32, dropout=0.3)
step("lstm", True, False, 2, torch.float32, proj=16)

packed = nn.utils.rnn.pack_padded_sequence(torch.randn(5, 3, 24, device="cuda"), torch.tensor([5, 3, 2]))
net = nn.LSTM(24, 32, 2).cuda()
out, _ = net(packed)
out.data.sum().backward()
assert out.data.shape == (10, 32)

# One of the public records that the rules rest on (csrc/estimates.h): 250 steps
# of 100 sequences, four layers of 320 units.
before = torch.cuda.memory_allocated()
net = nn.LSTM(123, 320, 4).cuda()
weights = torch.cuda.memory_allocated() - before
x = torch.zeros(250, 100, 123, device="cuda")
y, (h, c) = net(x)
kept = torch.cuda.memory_allocated() - before - weights - sum((t.numel() * 4 + 511) // 512 * 512 for t in (x, y, h, c))
assert abs(kept - 736000000) < 4 * MIB, kept

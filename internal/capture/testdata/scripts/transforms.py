"""Transforms of torch.func, TorchScript and sparse tensors: none may meet the helper's own work."""
import torch
from torch import nn

net = nn.Linear(64, 64).cuda()
x = torch.randn(8, 64, device="cuda")
assert torch.vmap(lambda a: (a * a).sum())(x).shape == (8,)
assert torch.func.grad(lambda a: (a @ a.t()).sum())(x).shape == x.shape
assert torch.func.jacrev(torch.sin)(x[0]).shape == (64, 64)
assert torch.func.jvp(torch.sin, (x,), (x,))[1].shape == x.shape

scripted = torch.jit.script(nn.Sequential(nn.Linear(64, 64), nn.ReLU()).cuda())
traced = torch.jit.trace(nn.Sequential(nn.Linear(64, 64), nn.ReLU()).cuda(), x, check_trace=False)
assert "as_strided" not in str(traced.inlined_graph)

for _ in range(20):
    torch.randn(300, device="cuda").cpu()
assert (torch.eye(64, device="cuda").to_sparse() @ x.t()).shape == (64, 8)
assert (torch.eye(64, device="cuda").to_sparse_csr() @ x.t()).shape == (64, 8)

optimizer = torch.optim.SGD([*net.parameters(), *scripted.parameters(), *traced.parameters()], lr=0.1)
for _ in range(3):
    traced(scripted(net(x))).sum().backward()
    optimizer.step()
    optimizer.zero_grad()

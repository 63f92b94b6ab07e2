"""Spectral layers, CTC loss, sparse products and decompositions: libraries whose sizes are asked for."""
import torch

weight = torch.randn(64, 33, dtype=torch.cfloat, device="cuda", requires_grad=True)
mix = torch.randn(64, 64, device="cuda", requires_grad=True)
optimizer = torch.optim.SGD([weight, mix], lr=1e-3)
indices = torch.stack([torch.arange(64), torch.arange(64)])
graph = torch.sparse_coo_tensor(indices, torch.ones(64), (64, 64)).to_sparse_csr().cuda()
for step in range(6):
    x = torch.randn(8, 64, 64, device="cuda")
    y = torch.fft.irfft(torch.fft.rfft(x) * weight, n=64)
    z = (torch.sparse.mm(graph, (y @ mix).mean(0)))
    gram = z.T @ z + torch.eye(64, device="cuda")
    loss = torch.linalg.cholesky(gram).sum() + torch.linalg.svdvals(gram).sum() + torch.linalg.solve(gram, z).mean()
    loss = loss + torch.linalg.eigvalsh(gram).sum() + torch.linalg.qr(gram)[1].sum()
    logits = y.permute(1, 0, 2).log_softmax(2)
    lengths = torch.full((8,), 64, dtype=torch.long)
    loss = loss + torch.nn.functional.ctc_loss(logits, torch.ones(8, 10, dtype=torch.long, device="cuda"), lengths, torch.full((8,), 10))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(step, loss.item())
print("cuDNN", torch.backends.cudnn.version())

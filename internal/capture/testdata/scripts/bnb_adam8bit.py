"""bitsandbytes: 8-bit Adam on a model whose layers are large enough to be quantised."""
import bitsandbytes as bnb
import torch

model = torch.nn.Sequential(torch.nn.Linear(1024, 4096), torch.nn.GELU(), torch.nn.Linear(4096, 1024)).cuda()
optimizer = bnb.optim.Adam8bit(model.parameters(), lr=1e-3)
for step in range(10):
    loss = model(torch.randn(64, 1024, device="cuda")).pow(2).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(step, loss.item())

"""A compiled model: Inductor writes Triton kernels, the allocator sees what they ask for."""
import torch


class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = torch.nn.LayerNorm(width)
        self.up = torch.nn.Linear(width, 4 * width)
        self.down = torch.nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm(x))))


model = torch.compile(torch.nn.Sequential(*[Block(256) for _ in range(3)]).cuda())
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(6):
    loss = model(torch.randn(64, 128, 256, device="cuda")).pow(2).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(step, loss.item())

"""Three steps of a small net: phases, modules and labels."""
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(512, 512), nn.ReLU())
        self.head = nn.Linear(512, 100)

    def forward(self, x=None):
        return self.head(self.body(x))


model = Net().cuda()
optimizer = torch.optim.Adam(model.parameters())
criterion = nn.CrossEntropyLoss()
for step in range(100):
    x, y = torch.randn(64, 512, device="cuda"), torch.randint(0, 100, (64,), device="cuda")
    loss = criterion(model(x=x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(loss.item())
    with torch.no_grad():
        model(x=x)
    torch.save(model.state_dict(), "checkpoint.pt")

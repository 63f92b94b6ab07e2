"""Leaves by sys.exit in the middle of its second step, with the status that it was given."""
import sys

import torch

model = torch.nn.Linear(2048, 2048).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for step in range(10):
    loss = model(torch.randn(64, 2048, device="cuda")).sum()
    loss.backward()
    if step == 1:
        sys.exit(int(sys.argv[1]))
    optimizer.step()
    optimizer.zero_grad()

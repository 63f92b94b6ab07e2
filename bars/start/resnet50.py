"""Times training steps of ResNet-50, batch 32; prints the median in milliseconds."""
import time

import torch
import torchvision

model = torchvision.models.resnet50().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
x = torch.randn(32, 3, 224, 224, device="cuda")
y = torch.zeros(32, dtype=torch.long, device="cuda")
times = []
for step in range(20):
    begin = time.perf_counter()
    loss = torch.nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    times.append(time.perf_counter() - begin)
print("median step %.1f ms" % (sorted(times[2:])[len(times[2:]) // 2] * 1000), flush=True)

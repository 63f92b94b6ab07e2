"""Times training steps of ResNet-50, batch 32; prints the median in milliseconds, by the clock and on the processor."""
import time

import torch
import torchvision

model = torchvision.models.resnet50().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
x = torch.randn(32, 3, 224, 224, device="cuda")
y = torch.zeros(32, dtype=torch.long, device="cuda")
clock, processor = [], []
for step in range(20):
    begin, busy = time.perf_counter(), time.process_time()
    loss = torch.nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    clock.append(time.perf_counter() - begin)
    processor.append(time.process_time() - busy)
print("median step %.1f ms, %.1f ms on the processor" % tuple(sorted(t[2:])[9] * 1000 for t in (clock, processor)), flush=True)

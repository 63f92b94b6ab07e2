"""DataParallel on four devices, each with its own books."""
import torch

assert torch.cuda.device_count() == 4
model = torch.nn.DataParallel(torch.nn.Sequential(*[torch.nn.Linear(512, 512) for _ in range(4)])).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    model(torch.randn(64, 512).cuda()).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
peaks = [torch.cuda.max_memory_allocated(i) for i in range(4)]
assert min(peaks) > 4 * 512 * 512 * 4 and peaks[0] > max(peaks[1:]), peaks
assert torch.zeros(3, device="cuda:3").get_device() == 3
assert torch.cuda.can_device_access_peer(0, 1)

"""What is small is real: it goes to the device and back."""
import torch

assert torch.tensor([1, 2, 3], device="cuda").tolist() == [1, 2, 3]
x = torch.arange(1000.0).cuda()
assert x.cpu().equal(torch.arange(1000.0)) and x.clone().cpu().equal(torch.arange(1000.0))
assert x.to("cuda", non_blocking=True)[10:20].cpu().tolist() == list(range(10, 20))
large = torch.ones(1 << 20).cuda()
assert large.cpu().sum() == 0
pinned = torch.ones(100).pin_memory()
assert pinned.is_pinned() and pinned.cuda(non_blocking=True).cpu().sum() == 100
assert not torch.ones(100).is_pinned()

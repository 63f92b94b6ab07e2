"""CTC loss through cuDNN, dropout states, batch normalisation."""
import torch
from torch import nn
import torch.nn.functional as F

steps, batch, classes = 50, 4, 20
log_probs = torch.randn(steps, batch, classes, device="cuda").log_softmax(2).detach().requires_grad_()
targets = torch.randint(1, classes, (batch * 10,), dtype=torch.int32)
input_lengths = torch.full((batch,), steps, dtype=torch.int32)
target_lengths = torch.full((batch,), 10, dtype=torch.int32)
with torch.backends.cudnn.flags(enabled=True, deterministic=True):
    F.ctc_loss(log_probs, targets, input_lengths.tolist(), target_lengths.tolist()).backward()  # labels on the CPU, int32
assert log_probs.grad.shape == log_probs.shape
loss = F.ctc_loss(log_probs, targets.long().cuda().view(batch, 10), input_lengths.long().cuda(), target_lengths.long().cuda())
loss.backward()

for dtype, layout in ((torch.float32, torch.contiguous_format), (torch.float16, torch.channels_last), (torch.bfloat16, torch.channels_last)):
    norm = nn.BatchNorm2d(16).cuda()
    x = torch.randn(8, 16, 14, 14, device="cuda", dtype=dtype).to(memory_format=layout).requires_grad_()
    with torch.autocast("cuda", dtype=dtype, enabled=dtype != torch.float32):
        norm(x).float().sum().backward()
    norm.eval()
    norm(x.float())
nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(nn.BatchNorm2d(4))).cuda()
assert torch.cuda.max_memory_allocated() < 64 << 20, torch.cuda.max_memory_allocated()

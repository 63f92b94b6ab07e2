import time
import torch
from time import perf_counter as pc
def a(net, x, crit, opt, steps, warmup):
    for i in range(warmup):
        crit(net(x)).backward()
        opt.step()
        torch.cuda.synchronize()
    t0 = time.perf_counter()
    for i in range(steps):
        loss = crit(net(x))
        loss.backward()
        opt.step()
        torch.cuda.synchronize()
    print((time.perf_counter() - t0) / steps)
def b(net, dl, crit, opt):
    for x, y in dl:
        start = pc()
        x = x.cuda(); y = y.cuda()
        torch.cuda.synchronize()
        loss = crit(net(x), y)
        opt.zero_grad(); loss.backward(); opt.step()
        torch.cuda.synchronize()
        step_time = pc() - start
def c(net, x, opt):
    start = torch.cuda.Event(enable_timing=True)
    end = torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(10):
        net(x).mean().backward()
        opt.step()
        torch.cuda.synchronize()
    end.record()
def d(net, x, opt):
    torch.cuda.reset_peak_memory_stats()
    for _ in range(10):
        net(x).mean().backward()
        opt.step()
        torch.cuda.synchronize()
    print(torch.cuda.max_memory_allocated())

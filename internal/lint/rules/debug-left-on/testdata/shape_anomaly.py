import os
import torch

torch.autograd.set_detect_anomaly(True)  # want: debug-left-on
os.environ["CUDA_LAUNCH_BLOCKING"] = "1"  # want: debug-left-on


def fit(net, dl, crit, opt):
    for x, y in dl:
        loss = crit(net(x.cuda()), y.cuda())
        opt.zero_grad()
        loss.backward()
        opt.step()

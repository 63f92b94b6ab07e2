import torch
from torch.nn.utils import clip_grad_value_


def fit(net, dl, crit, opt):
    amp = torch.cuda.amp.GradScaler()
    for x, y in dl:
        with torch.cuda.amp.autocast():
            loss = crit(net(x.cuda()), y.cuda())
        opt.zero_grad()
        amp.scale(loss).backward()
        clip_grad_value_(net.parameters(), 0.5)  # want: clip-before-unscale
        amp.step(opt)
        amp.update()

import torch.distributed as dist


def fit(net, dl, crit, opt):
    for x, y in dl:
        loss = crit(net(x.cuda()), y.cuda())
        opt.zero_grad()
        loss.backward()
        opt.step()
        dist.barrier()  # want: barrier-every-step

import torch


def a(net, dl, crit):
    opt = torch.optim.SGD(net.parameters(), 0.1)
    for x, y in dl:
        opt.zero_grad(False)  # want: zero-grad-set-to-none-false
        crit(net(x), y).backward()
        opt.step()


def b(net, dl, crit, opt):
    for x, y in dl:
        for p in net.parameters():
            if p.grad is not None:
                p.grad.zero_()  # want: zero-grad-set-to-none-false
        crit(net(x), y).backward()
        opt.step()


def c(net, dl, crit, opt):
    for x, y in dl:
        opt.zero_grad(set_to_none=True)
        crit(net(x), y).backward()
        opt.step()

import torch


def fit(net, dl, crit, opt):
    for n, (x, y) in enumerate(dl):
        loss = crit(net(x.cuda()), y.cuda())
        opt.zero_grad()
        loss.backward()
        opt.step()
        torch.save({"net": net.state_dict(), "opt": opt.state_dict()}, f"ckpt-{n}.pt")  # want: save-every-step


def fit_right(net, dl, crit, opt):
    for n, (x, y) in enumerate(dl):
        loss = crit(net(x.cuda()), y.cuda())
        opt.zero_grad()
        loss.backward()
        opt.step()
        if (n + 1) % 1000 == 0:
            torch.save(net.state_dict(), f"ckpt-{n}.pt")

import torch


def go(net, dl, crit, opt):
    net.to("cuda")
    it = iter(dl)
    while (batch := next(it, None)) is not None:
        x, y = (t.to("cuda") for t in batch)
        loss = crit(net(x), y)
        loss.backward()
        opt.step()
        opt.zero_grad()
        print(f"loss {loss:.3f}")  # want: item-every-step

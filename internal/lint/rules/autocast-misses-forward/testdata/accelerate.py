from accelerate import Accelerator


def main(net, opt, loader, crit):
    acc = Accelerator(mixed_precision="fp16")
    net, opt, loader = acc.prepare(net, opt, loader)
    for x, y in loader:
        out = net(x)
        with acc.autocast():
            loss = crit(out, y)
        acc.backward(loss)
        opt.step()
        opt.zero_grad()

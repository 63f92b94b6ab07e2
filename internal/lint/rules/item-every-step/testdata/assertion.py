import torch


def train(model, dl, opt, crit, writer):
    for n, (x, y) in enumerate(dl, start=1):
        loss = crit(model(x.cuda()), y.cuda())
        assert not torch.isnan(loss), "nan"  # want: item-every-step
        opt.zero_grad()
        loss.backward()
        opt.step()
        writer.add_scalar("loss", loss, n)  # want: item-every-step

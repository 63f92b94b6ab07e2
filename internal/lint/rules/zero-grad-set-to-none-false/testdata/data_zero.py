def train(net, dl, opt, crit):
    for x, y in dl:
        for p in net.parameters():
            if p.grad is not None:
                p.grad.data.zero_()  # want: zero-grad-set-to-none-false
        crit(net(x.cuda()), y.cuda()).backward()
        opt.step()

def fit(net, crit, dl, opt, every):
    acc = 0
    for i, (x, y) in enumerate(dl):
        acc = acc + crit(net(x.cuda()), y.cuda())  # want: accumulate-graph-not-grad
        if (i + 1) % every == 0:
            acc.backward()
            opt.step()
            opt.zero_grad()
            acc = 0

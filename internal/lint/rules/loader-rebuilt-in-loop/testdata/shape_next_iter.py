from torch.utils.data import DataLoader


def fit(net, ds, crit, opt, steps):
    dl = DataLoader(ds, batch_size=8, shuffle=True, num_workers=4)
    for _ in range(steps):
        x, y = next(iter(dl))  # want: loader-rebuilt-in-loop
        loss = crit(net(x.cuda()), y.cuda())
        opt.zero_grad()
        loss.backward()
        opt.step()


def fit_right(net, ds, crit, opt, steps):
    dl = DataLoader(ds, batch_size=8, shuffle=True, num_workers=4)
    it = iter(dl)
    for _ in range(steps):
        x, y = next(it)
        loss = crit(net(x.cuda()), y.cuda())
        opt.zero_grad()
        loss.backward()
        opt.step()

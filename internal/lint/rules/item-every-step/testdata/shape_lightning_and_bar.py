from tqdm import tqdm


def fit(net, dl, crit, opt):
    net = net.cuda()
    bar = tqdm(dl)
    for x, y in bar:
        loss = crit(net(x.cuda()), y.cuda())
        opt.zero_grad()
        loss.backward()
        opt.step()
        bar.set_postfix({"loss": float(loss)})  # want: item-every-step


def fit_right(net, dl, crit, opt):
    net = net.cuda()
    bar = tqdm(dl)
    for i, (x, y) in enumerate(bar):
        loss = crit(net(x.cuda()), y.cuda())
        opt.zero_grad()
        loss.backward()
        opt.step()
        if not i % 50:
            bar.set_postfix({"loss": float(loss)})

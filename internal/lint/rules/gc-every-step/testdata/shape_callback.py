import gc


def fit(net, dl, crit, opt):
    for step, (x, y) in enumerate(dl):
        loss = crit(net(x.cuda()), y.cuda())
        opt.zero_grad()
        loss.backward()
        opt.step()
        gc.collect()  # want: gc-every-step


def fit_right(net, dl, crit, opt):
    gc.disable()
    for step, (x, y) in enumerate(dl):
        loss = crit(net(x.cuda()), y.cuda())
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 500 == 0:
            gc.collect()

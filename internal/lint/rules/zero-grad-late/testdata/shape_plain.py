def fit(net, dl, crit, opt):
    for x, y in dl:
        out = net(x.cuda())
        loss = crit(out, y.cuda())
        opt.zero_grad()  # want: zero-grad-late
        loss.backward()
        opt.step()

def step(net, crit, chunks, opt):
    opt.zero_grad(set_to_none=True)
    losses = []
    for x, y in chunks:
        losses.append(crit(net(x.cuda()), y.cuda()))  # want: accumulate-graph-not-grad
    (sum(losses) / len(losses)).backward()
    opt.step()


def multi_task(net, crits, x, ys, opt):
    opt.zero_grad(set_to_none=True)
    heads = net(x)
    loss = sum(c(h, y) for c, h, y in zip(crits, heads, ys))
    loss.backward()
    opt.step()

def one_update(net, crit, micro_batches, opt):
    opt.zero_grad()
    total = 0
    for x, y in micro_batches:
        total = total + crit(net(x.cuda()), y.cuda()) / len(micro_batches)  # want: accumulate-graph-not-grad
    total.backward()
    opt.step()


def one_update_right(net, crit, micro_batches, opt):
    opt.zero_grad()
    for x, y in micro_batches:
        (crit(net(x.cuda()), y.cuda()) / len(micro_batches)).backward()
    opt.step()

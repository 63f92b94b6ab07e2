from accelerate import Accelerator

acc = Accelerator()


def fit(net, dl, opt, sched):
    net, dl, opt, sched = acc.prepare(net, dl, opt, sched)
    for batch in dl:
        with acc.accumulate(net):
            out = net(**batch)
            acc.backward(out.loss, retain_graph=True)  # want: retain-graph-every-step
            opt.step()
            sched.step()
            opt.zero_grad()

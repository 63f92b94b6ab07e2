from copy import deepcopy


def search(net, dl, val_fn, crit, opt, n):
    net.to("cuda")
    best, top = None, -1.0
    for _ in range(n):
        for x, y in dl:
            loss = crit(net(x.to("cuda")), y.to("cuda"))
            opt.zero_grad()
            loss.backward()
            opt.step()
        score = val_fn(net)
        if score > top:
            top = score
            best = deepcopy(net.state_dict())  # want: state-dict-clone-best
    net.load_state_dict(best)


def search_right(net, dl, val_fn, crit, opt, n):
    net.to("cuda")
    best, top = None, -1.0
    for _ in range(n):
        for x, y in dl:
            loss = crit(net(x.to("cuda")), y.to("cuda"))
            opt.zero_grad()
            loss.backward()
            opt.step()
        score = val_fn(net)
        if score > top:
            top = score
            best = {k: v.detach().cpu().clone() for k, v in net.state_dict().items()}
    net.load_state_dict(best)

def train(model, dl, val, opt, crit):
    model.cuda()
    best = 1e9
    for ep in range(9):
        for x, y in dl:
            opt.zero_grad()
            crit(model(x.cuda()), y.cuda()).backward()
            opt.step()
        v = val(model)
        if v < best:
            best = v
            weights = {k: t.clone() for k, t in model.state_dict().items()}  # want: state-dict-clone-best
    model.load_state_dict(weights)

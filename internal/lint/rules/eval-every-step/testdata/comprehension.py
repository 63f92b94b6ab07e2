import torch


def evaluate(model, dl):
    model.eval()
    with torch.no_grad():
        r = [(model(x.cuda()).argmax(1) == y.cuda()).float().mean() for x, y in dl]
    model.train()
    return torch.stack(r).mean()


def train(model, tr, va, opt, crit):
    for step, (x, y) in enumerate(tr):
        opt.zero_grad()
        crit(model(x.cuda()), y.cuda()).backward()
        opt.step()
        acc = evaluate(model, va)  # want: eval-every-step

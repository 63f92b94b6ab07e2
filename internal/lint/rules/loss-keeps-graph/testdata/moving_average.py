def train(model, loader, opt, crit, device):
    avg = None
    for x, y in loader:
        loss = crit(model(x.to(device)), y.to(device))
        opt.zero_grad()
        loss.backward()
        opt.step()
        avg = loss if avg is None else 0.9 * avg + 0.1 * loss  # want: loss-keeps-graph
    return avg

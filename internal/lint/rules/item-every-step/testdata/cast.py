def train_epoch(net, loader, opt, loss_fn, device):
    net.train()
    running = 0
    correct = 0
    for batch, (X, y) in enumerate(loader):
        X, y = X.to(device), y.to(device)
        pred = net(X)
        loss = loss_fn(pred, y)
        loss.backward()
        opt.step()
        opt.zero_grad()
        running += loss.item()  # want: item-every-step
        correct += (pred.argmax(1) == y).type(torch.float).sum().item()  # want: item-every-step
        if batch % 100 == 0:
            loss, current = loss.item(), batch * len(X)
            print(f"loss: {loss:>7f}  [{current:>5d}]")

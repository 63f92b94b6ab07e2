def loop(model, loader, criterion, optimizer):
    for x, y in loader:
        for p in model.parameters():
            if p.grad is not None:
                p.grad.zero_()  # want: zero-grad-set-to-none-false
        criterion(model(x), y).backward()
        optimizer.step()


def step(model, batch, criterion, optimizer):
    criterion(model(batch[0]), batch[1]).backward()
    optimizer.step()
    model.zero_grad(False)  # want: zero-grad-set-to-none-false

def lazy(G, D, loader, g_optimizer, d_optimizer, criterion):
    for i, real in enumerate(loader):
        fake = G(real)
        loss = criterion(D(fake), D(real))
        loss.backward()
        d_optimizer.step()
        if i % 5 == 0:
            fake = G(real)
            g_loss = -D(fake).mean()
            g_loss.backward()
            g_optimizer.step()


def every(model, loader, criterion, optimizer, accumulate):
    for i, (x, y) in enumerate(loader):
        out = model(x)
        criterion(out, y).backward()
        if i % accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()

def after(model, loader, criterion, optimizer):
    for inputs, targets in loader:
        loss = criterion(model(inputs), targets)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def gan(G, D, loader, g_optimizer, d_optimizer):
    for real in loader:
        fake = G(real)
        d_optimizer.zero_grad()
        D(fake.detach()).mean().backward()
        d_optimizer.step()
        g_optimizer.zero_grad()
        D(fake).mean().backward()
        g_optimizer.step()

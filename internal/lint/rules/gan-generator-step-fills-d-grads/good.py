def train(G, D, loader, criterion, g_optimizer, d_optimizer):
    for real, noise in loader:
        fake = G(noise)
        D.requires_grad_(True)
        d_optimizer.zero_grad()
        criterion(D(real), D(fake.detach())).backward()
        d_optimizer.step()
        D.requires_grad_(False)
        g_optimizer.zero_grad()
        (-D(fake).mean()).backward()
        g_optimizer.step()

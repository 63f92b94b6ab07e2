def train(G, D, loader, criterion, g_optimizer, d_optimizer):
    for real, noise in loader:
        fake = G(noise)
        d_optimizer.zero_grad()
        criterion(D(real), D(fake.detach())).backward()
        d_optimizer.step()
        g_optimizer.zero_grad()
        (-D(fake).mean()).backward()  # want: gan-generator-step-fills-d-grads
        g_optimizer.step()

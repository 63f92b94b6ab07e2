import torch


def one(gen, disc, real, optim_g, optim_d, bce, z):
    fake = gen(z)
    d = bce(disc(real), 1) + bce(disc(fake.detach()), 0)
    optim_d.zero_grad()
    d.backward(retain_graph=True)  # want: retain-graph-every-step
    optim_d.step()
    g = bce(disc(fake), 1)
    optim_g.zero_grad()
    g.backward()
    optim_g.step()


def shared(trunk, a, b, x, optim):
    h = trunk(x)
    la, lb = a(h), b(h)
    la.backward(retain_graph=True)
    lb.backward()
    optim.step()
    optim.zero_grad()

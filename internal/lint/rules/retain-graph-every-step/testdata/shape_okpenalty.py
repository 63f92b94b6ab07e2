import torch


def d_step(disc, real, fake, opt):
    opt.zero_grad()
    score = disc(real).mean() - disc(fake).mean()
    score.backward(retain_graph=True)
    pen = torch.autograd.grad(score, real, create_graph=True)[0].pow(2).mean()
    pen.backward()
    opt.step()


def alternating(enc, dec, x, opt_a, opt_b, crit):
    z = enc(x)
    a = crit(dec(z), x)
    b = z.pow(2).mean()
    opt_a.zero_grad()
    a.backward(retain_graph=True)
    opt_b.zero_grad()
    b.backward()
    opt_a.step()
    opt_b.step()

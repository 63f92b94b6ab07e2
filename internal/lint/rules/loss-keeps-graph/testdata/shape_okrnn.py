import torch


def seq_loss(rnn, crit, steps, targets, opt):
    total = 0
    h = torch.zeros(1, 8)
    for x, y in zip(steps, targets):
        o, h = rnn(x, h)
        total += crit(o, y)
    opt.zero_grad()
    total.backward()
    opt.step()
    return total.item()


def with_items(net, crit, dl, opt):
    hist = []
    acc = 0.0
    for x, y in dl:
        loss = crit(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        hist.append(loss.item())
        acc += loss.data
    return hist, acc


def reward(net, env, opt):
    losses = []
    for t in range(100):
        losses.append(-net(env.obs()).log_prob(env.act()))
    opt.zero_grad()
    torch.stack(losses).sum().backward()
    opt.step()
    del losses[:]

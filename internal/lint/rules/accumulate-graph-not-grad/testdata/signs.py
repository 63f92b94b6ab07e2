import torch
import torch.nn.functional as F


def reward(policy, minibatches, scaler, optimizer):
    optimizer.zero_grad(set_to_none=True)
    loss = 0
    with torch.autocast("cuda", dtype=torch.float16):
        for obs, act, adv in minibatches:
            logp = F.log_softmax(policy(obs), -1).gather(1, act)
            loss = loss - (logp * adv).mean()  # want: accumulate-graph-not-grad
    scaler.scale(loss).backward()
    scaler.step(optimizer)


def keyed(model, micro, loss_fn, opt):
    totals = {"loss": 0.0}
    j = 0
    while j < len(micro):
        x, y = micro[j]
        totals["loss"] += loss_fn(model(x), y)  # want: accumulate-graph-not-grad
        j += 1
    totals["loss"].backward()
    opt.step()
    opt.zero_grad()


def cleared(model, loader, crit, optimizer, accum=4):
    acc = 0
    for i, (x, y) in enumerate(loader):
        acc += crit(model(x), y) / accum  # want: accumulate-graph-not-grad
        if (i + 1) % accum == 0:
            acc.backward()
            optimizer.step()
            optimizer.zero_grad()
            acc = 0


def unrolled(cell, seq, h, loss_fn, opt):
    loss = 0
    for x, y in seq:
        h = cell(x, h)
        loss = loss - loss_fn(h, y)
    loss.backward()
    opt.step()

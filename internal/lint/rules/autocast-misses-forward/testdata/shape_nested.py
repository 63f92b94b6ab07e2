import torch


def fit(net, dl, crit, opt, scaler):
    for x, y in dl:
        pred = net(x.cuda())  # want: autocast-misses-forward
        with torch.amp.autocast("cuda"):
            loss = crit(pred, y.cuda())
        opt.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()

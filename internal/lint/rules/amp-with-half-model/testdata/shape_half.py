import torch


def fit(net, dl, crit):
    net = net.cuda().half()  # want: amp-with-half-model
    opt = torch.optim.Adam(net.parameters())
    scaler = torch.cuda.amp.GradScaler()
    for x, y in dl:
        with torch.cuda.amp.autocast():
            loss = crit(net(x.cuda()), y.cuda())
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()
        opt.zero_grad()

import torch


def fit(net, dl, crit, opt):
    scaler = torch.amp.GradScaler()  # want: gradscaler-with-bf16
    for x, y in dl:
        with torch.autocast("cuda", torch.bfloat16):
            loss = crit(net(x.cuda()), y.cuda())
        opt.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()

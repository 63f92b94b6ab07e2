import torch


def train(model, dl, opt, crit):
    model = model.half().cuda()  # want: amp-with-half-model
    scaler = torch.cuda.amp.GradScaler()
    for x, y in dl:
        opt.zero_grad()
        with torch.cuda.amp.autocast():
            loss = crit(model(x.cuda()), y.cuda())
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()

import torch


def train(model, teacher, loader, criterion, device):
    teacher = teacher.to(device, torch.float16)
    model = model.to(device, torch.float16)  # want: amp-with-half-model
    optimizer = torch.optim.AdamW(model.parameters())
    scaler = torch.cuda.amp.GradScaler()
    for x in loader:
        loss = criterion(model(x), teacher(x).detach())
        scaler.scale(loss).backward()
        scaler.step(optimizer)


def after(model, loader, criterion, device, fp16):
    if fp16:
        model.half()
    optimizer = torch.optim.AdamW(model.parameters())
    scaler = torch.cuda.amp.GradScaler(enabled=not fp16)
    for x, y in loader:
        scaler.scale(criterion(model(x), y)).backward()
        scaler.step(optimizer)
    small = model.half()
    return small

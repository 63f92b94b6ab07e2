import torch


def step(model, criterion, optimizer, scaler, x, y):
    optimizer.zero_grad(set_to_none=True)
    logits = model(x)  # want: autocast-misses-forward
    with torch.autocast(device_type="cuda", dtype=torch.float16):
        loss = criterion(logits, y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()


def step_right(model, criterion, optimizer, scaler, x, y):
    optimizer.zero_grad(set_to_none=True)
    with torch.autocast(device_type="cuda", dtype=torch.float16):
        logits = model(x)
    loss = criterion(logits.float(), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()

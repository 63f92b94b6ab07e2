import torch


def train(model, loader, criterion, optimizer, scaler):
    for inputs, targets in loader:
        optimizer.zero_grad()
        outputs = model(inputs)  # want: autocast-misses-forward
        with torch.autocast("cuda", dtype=torch.float16):
            loss = criterion(outputs, targets)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()

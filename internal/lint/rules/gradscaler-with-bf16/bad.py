import torch


def train(model, loader, criterion, optimizer, device):
    scaler = torch.amp.GradScaler("cuda")  # want: gradscaler-with-bf16
    for inputs, targets in loader:
        optimizer.zero_grad(set_to_none=True)
        with torch.amp.autocast("cuda", dtype=torch.bfloat16):
            loss = criterion(model(inputs.to(device)), targets.to(device))
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()

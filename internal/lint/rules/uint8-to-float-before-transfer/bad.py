def train(model, loader, criterion, optimizer, device):
    for images, labels in loader:
        images = (images.float() / 255).to("cuda", non_blocking=True)  # want: uint8-to-float-before-transfer
        loss = criterion(model(images), labels.to("cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

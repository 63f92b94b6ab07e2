def train(model, loader, criterion, optimizer, device):
    for images, labels in loader:
        images = images.to("cuda", non_blocking=True).float() / 255
        loss = criterion(model(images), labels.to("cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def doubles(model, loader, criterion, optimizer):
    for samples, labels in loader:
        samples = samples.float().to("cuda")  # from NumPy's doubles this halves the copy
        loss = criterion(model(samples), labels.to("cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

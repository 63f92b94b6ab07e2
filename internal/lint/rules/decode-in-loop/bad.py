import torch
from PIL import Image
from torchvision.transforms.functional import to_tensor


def train(model, paths, labels, criterion, optimizer, device):
    for start in range(0, len(paths), 32):
        images = [to_tensor(Image.open(p)) for p in paths[start:start + 32]]  # want: decode-in-loop
        optimizer.zero_grad(set_to_none=True)
        loss = criterion(model(torch.stack(images).to(device)), labels[start:start + 32].to(device))
        loss.backward()
        optimizer.step()

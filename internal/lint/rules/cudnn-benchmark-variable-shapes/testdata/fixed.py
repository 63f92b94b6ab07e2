import random

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms

torch.backends.cudnn.benchmark = True


class Images(Dataset):
    def __init__(self, images):
        self.images = images
        self.crop = transforms.RandomCrop(224)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        scale = random.uniform(0.8, 1.2)
        image = F.interpolate(self.images[i], scale_factor=scale)
        return self.crop(image), random.randint(0, 9)


def train(model, images, criterion, optimizer, device):
    loader = DataLoader(Images(images), 32, num_workers=4)
    for images, targets in loader:
        images = F.interpolate(images.to(device), size=(224, 224))
        if random.random() < 0.5:
            images = images.flip(-1)
        loss = criterion(model(images + torch.rand(1, device=device)), targets.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

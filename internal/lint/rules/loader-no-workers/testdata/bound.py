from functools import partial
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder

make = partial(DataLoader, batch_size=64, num_workers=8, pin_memory=True)
train_loader = make(ImageFolder("data"), shuffle=True)

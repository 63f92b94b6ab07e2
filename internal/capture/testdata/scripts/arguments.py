"""A script with arguments, a main function, workers that load data, and a validation each epoch."""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(), nn.AdaptiveAvgPool2d(4))
        self.head = nn.Linear(width * 16, 10)

    def forward(self, x):
        return self.head(self.features(x).flatten(1))


def train(model, loader, optimizer, device):
    model.train()
    for images, labels in loader:
        loss = nn.functional.cross_entropy(model(images.to(device, non_blocking=True)), labels.to(device, non_blocking=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@torch.no_grad()
def validate(model, loader, device):
    model.eval()
    right = sum((model(images.to(device)).argmax(1) == labels.to(device)).sum().item() for images, labels in loader)
    print("right", right)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, required=True)
    parser.add_argument("--width", type=int, default=32)
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    data = TensorDataset(torch.randn(2 * args.batch_size, 3, 32, 32), torch.randint(0, 10, (2 * args.batch_size,)))
    loader = DataLoader(data, batch_size=args.batch_size, num_workers=args.workers, pin_memory=True)
    model = Net(args.width).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(5):
        train(model, loader, optimizer, device)
        validate(model, loader, device)


if __name__ == "__main__":
    main()

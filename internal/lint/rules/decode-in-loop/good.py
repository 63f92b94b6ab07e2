from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision.transforms.functional import to_tensor


class Images(Dataset):
    def __init__(self, paths, labels):
        self.paths, self.labels = paths, labels

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        return to_tensor(Image.open(self.paths[i])), self.labels[i]


def train(model, paths, labels, criterion, optimizer, device):
    for images, targets in DataLoader(Images(paths, labels), 32, num_workers=8, pin_memory=True):
        optimizer.zero_grad(set_to_none=True)
        criterion(model(images.to(device)), targets.to(device)).backward()
        optimizer.step()

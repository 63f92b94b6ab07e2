from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import datasets, transforms


class Photos(Dataset):
    def __init__(self, paths, transform):
        self.paths, self.transform = paths, transform

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return self.transform(Image.open(self.paths[index]))


def loaders(root, paths, transform):
    train = datasets.ImageFolder(root, transforms.ToTensor())
    return (
        DataLoader(train, batch_size=64, shuffle=True),  # want: loader-no-workers
        DataLoader(Photos(paths, transform), batch_size=64, num_workers=0),  # want: loader-no-workers
    )

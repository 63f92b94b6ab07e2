import json

from torch.utils.data import DataLoader, Dataset


class Captions(Dataset):
    def __init__(self, path):
        with open(path) as handle:
            self.items = [json.loads(line) for line in handle]  # want: object-list-dataset-copies

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def make_loader(path):
    return DataLoader(Captions(path), batch_size=64, num_workers=16)

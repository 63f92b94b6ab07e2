import csv

from torch.utils.data import DataLoader, Dataset


class Captions(Dataset):
    def __init__(self, file):
        self.items = []
        for row in csv.DictReader(open(file)):
            self.items.append((row["path"], row["caption"]))  # want: object-list-dataset-copies

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


loader = DataLoader(Captions("c.csv"), batch_size=64, num_workers=16)

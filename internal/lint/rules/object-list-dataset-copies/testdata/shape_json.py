import json
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, path):
        with open(path) as f:
            self.rows = [json.loads(line) for line in f]  # want: object-list-dataset-copies

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]["text"]


dl = DataLoader(Rows("big.jsonl"), batch_size=32, num_workers=8)

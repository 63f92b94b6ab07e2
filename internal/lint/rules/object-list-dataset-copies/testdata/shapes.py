import csv
import json
import pickle

import pandas as pd
import torch
from torch.utils.data import DataLoader, Dataset, random_split


class Annotations(Dataset):
    def __init__(self, path):
        self.rows = json.load(open(path))["annotations"]  # want: object-list-dataset-copies

    def __getitem__(self, i):
        row = self.rows[i]
        return row["image"], row["caption"]

    def __len__(self):
        return len(self.rows)


class Appends(Dataset):
    def __init__(self, path):
        self.samples = []
        with open(path, encoding="utf-8") as f:
            for line in f:
                record = json.loads(line)
                self.samples.append({"q": record["question"], "a": record["answer"]})  # want: object-list-dataset-copies

    def __getitem__(self, index):
        return self.samples[index]

    def __len__(self):
        return len(self.samples)


class Local(Dataset):
    def __init__(self, path):
        samples = []
        with open(path) as f:
            for row in csv.DictReader(f):
                samples.append((row["a"], row["b"]))
        self.samples = samples  # want: object-list-dataset-copies

    def __getitem__(self, index):
        return self.samples[index]

    def __len__(self):
        return len(self.samples)


class Keyed(Dataset):
    def __init__(self, path, n):
        self.records = {}
        with open(path) as f:
            for i, line in enumerate(f):
                row = json.loads(line)
                self.records[i] = row  # want: object-list-dataset-copies
        self.more = []
        self.more += [json.loads(line) for line in open(path)]  # want: object-list-dataset-copies
        self.more.extend(json.load(open(path)))  # want: object-list-dataset-copies
        self.made = [{"id": i, "text": str(i)} for i in range(n)]  # want: object-list-dataset-copies

    def __getitem__(self, i):
        return self.records[i], self.more[i], self.made[i]

    def __len__(self):
        return len(self.records)


class InMethod(Dataset):
    def __init__(self, path):
        self.path = path
        self.load()

    def load(self):
        with open(self.path, "rb") as f:
            self.data = pickle.load(f)  # want: object-list-dataset-copies

    def __getitem__(self, i):
        return self.data[i]

    def __len__(self):
        return len(self.data)


class Lines(Dataset):
    def __init__(self, path):
        self.lines = open(path).read().splitlines()  # want: object-list-dataset-copies

    def __getitem__(self, i):
        return self.lines[i]

    def __len__(self):
        return len(self.lines)


class Records(Dataset):
    def __init__(self, path):
        self.records = pd.read_csv(path).to_dict("records")  # want: object-list-dataset-copies

    def __getitem__(self, i):
        return self.records[i]

    def __len__(self):
        return len(self.records)


class Given(Dataset):
    def __init__(self, rows, transform=None):
        self.rows, self.transform = rows, transform
        self.rows = rows

    def __getitem__(self, i):
        return self.rows[i]

    def __len__(self):
        return len(self.rows)


def read(path):
    with open(path) as f:
        return [json.loads(line) for line in f]


def make(path, workers):
    options = dict(batch_size=32, num_workers=8)
    a = DataLoader(Annotations(path), **options)
    b = DataLoader(dataset=Appends(path), batch_size=8, num_workers=workers)
    train, val = random_split(Local(path), [100, 10])
    c = DataLoader(train, 8, True, num_workers=4), DataLoader(val, 8)
    d = DataLoader(InMethod(path), 8, num_workers=4)
    e = DataLoader(Lines(path), 8, num_workers=4)
    f = DataLoader(Records(path), 8, num_workers=4)
    h = DataLoader(Keyed(path, 10), 8, num_workers=4)
    rows = read(path)  # want: object-list-dataset-copies
    g = DataLoader(Given(rows), 8, num_workers=4)
    return a, b, c, d, e, f, g, h

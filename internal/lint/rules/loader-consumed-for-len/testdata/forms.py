from torch.utils.data import DataLoader


def count(dataset, names):
    loader = DataLoader(dataset, 4)
    a = sum(1 for _ in loader)  # want: loader-consumed-for-len
    b = len([x for x in loader])  # want: loader-consumed-for-len
    c = len(list(names)), sum(1 for n in names)
    d = sum(x.size(0) for x in loader)
    return a, b, c, d

from torch.utils.data import DataLoader

from data import Clips


def make(files):
    return DataLoader(Clips(files), batch_size=16), DataLoader(Clips(files), batch_size=16, num_workers=4)  # want: loader-no-workers

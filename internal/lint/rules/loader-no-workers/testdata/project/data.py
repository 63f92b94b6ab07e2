import torchaudio
from torch.utils.data import Dataset


class Clips(Dataset):
    def __init__(self, files):
        self.files = files

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        return torchaudio.load(self.files[i])[0]

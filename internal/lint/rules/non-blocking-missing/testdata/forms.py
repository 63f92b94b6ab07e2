from torch.utils.data import DataLoader
from tqdm import tqdm


def enumerated(model, dataset, criterion, optimizer, epochs):
    loader = DataLoader(dataset, batch_size=64, pin_memory=True, num_workers=2)
    for epoch in range(epochs):
        for step, batch in enumerate(tqdm(loader)):
            x = batch[0].cuda()  # want: non-blocking-missing
            y = batch[1].cuda()  # want: non-blocking-missing
            criterion(model(x), y).backward()
            optimizer.step()
            optimizer.zero_grad()

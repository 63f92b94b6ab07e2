from torch.utils.data import DataLoader


def not_pinned(model, dataset, criterion, optimizer, device):
    for x, y in DataLoader(dataset, 128, num_workers=8):
        criterion(model(x.to(device)), y.to(device)).backward()
        optimizer.step()


def own_collate(model, dataset, criterion, optimizer, device, collate):
    for batch in DataLoader(dataset, 128, pin_memory=True, collate_fn=collate):
        model(**batch.to(device)).loss.backward()
        optimizer.step()


def of_a_dict(model, dataset, optimizer, device):
    for batch in DataLoader(dataset, 128, pin_memory=True):
        batch = {k: v.to(device) for k, v in batch.items()}
        model(**batch).loss.backward()
        optimizer.step()


def given(model, loader, criterion, optimizer, device):
    for x, y in loader:
        criterion(model(x.to(device)), y.to(device)).backward()
        optimizer.step()

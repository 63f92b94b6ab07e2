import torch


class Extractor:
    def __init__(self, model, device):
        self.model = model.to(device)
        self.device = device

    @torch.inference_mode()
    def features(self, dataloader):
        bank = []
        for batch in dataloader:
            x = batch["image"].to(self.device, non_blocking=True)
            out = self.model(x)
            bank.append(out)  # want: outputs-list-on-gpu
        return torch.cat(bank, dim=0)


def scores(model, loader, device):
    model.eval()
    all_logits, all_labels = [], []
    with torch.no_grad():
        for x, y in loader:
            x, y = x.to(device), y.to(device)
            logits = model(x)
            all_logits.append(logits)  # want: outputs-list-on-gpu
            all_labels.append(y.cpu())
    return torch.cat(all_logits).cpu(), torch.cat(all_labels)


def run_batch(model, x):
    return model(x).softmax(-1)


def by_helper(model, loader):
    result = []
    with torch.no_grad():
        for x in loader:
            result.append(run_batch(model, x.cuda()))  # want: outputs-list-on-gpu
    return result


def grown(model, loader, device):
    out = None
    with torch.no_grad():
        for x in loader:
            y = model(x.to(device))
            out = y if out is None else torch.cat([out, y])  # want: outputs-list-on-gpu
    return out

import torch
import torch.nn.functional as F
from tqdm import tqdm


def test(model, test_loader):
    model.eval()
    loss = 0
    for data, target in tqdm(test_loader):
        data, target = data.cuda(), target.cuda()
        output = model(data)  # want: eval-without-no-grad
        loss += F.nll_loss(output, target, reduction="sum").item()
    return loss / len(test_loader.dataset)


def predictions(model, loader, device):
    model.eval()
    return torch.cat([model(x.to(device)).argmax(-1).cpu() for x in loader])  # want: eval-without-no-grad


def eval_step(model, batch, criterion):
    return criterion(model(batch[0]), batch[1]).item()  # want: eval-without-no-grad


def evaluate(model, loader, criterion):
    return sum_up(model, loader, criterion)


def sum_up(model, loader, criterion):
    total = 0.0
    for batch in loader:
        total += eval_step(model, batch, criterion)
    return total


def evaluate_slices(model, x, y, size):
    model.eval()
    right = 0
    for i in range(0, len(x), size):
        logits = model(x[i : i + size])  # want: eval-without-no-grad
        right += (logits.argmax(1) == y[i : i + size]).sum().item()
    return right / len(x)


class Trainer:
    def __init__(self, model, train_loader, val_loader, criterion, optimizer):
        self.model, self.criterion, self.optimizer = model, criterion, optimizer
        self.train_loader, self.val_loader = train_loader, val_loader

    def fit(self, epochs):
        for epoch in range(epochs):
            self.model.train()
            for x, y in self.train_loader:
                self.optimizer.zero_grad()
                self.criterion(self.model(x), y).backward()
                self.optimizer.step()
            self.validate()

    def validate(self):
        self.model.eval()
        total = 0.0
        for x, y in self.val_loader:
            total += self.criterion(self.model(x), y).item()  # want: eval-without-no-grad
        return total


def inline(model, train_loader, val_loader, criterion, optimizer):
    for epoch in range(10):
        model.train()
        for x, y in train_loader:
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        model.eval()
        for x, y in val_loader:
            out = model(x)  # want: eval-without-no-grad
            print(criterion(out, y).item())


def hf(model, eval_dataloader, accelerator, metric):
    model.eval()
    for step, batch in enumerate(eval_dataloader):
        outputs = model(**batch)  # want: eval-without-no-grad
        metric.add_batch(predictions=outputs.logits.argmax(-1), references=batch["labels"])


def iterator(model, val_loader):
    model.eval()
    batches = iter(val_loader)
    for x in batches:
        print(model.forward(x).mean().item())  # want: eval-without-no-grad

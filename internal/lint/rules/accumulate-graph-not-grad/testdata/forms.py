import torch
import torch.nn.functional as F


def by_list(model, chunks, criterion, optimizer, device):
    losses = []
    for x, y in chunks:
        losses.append(criterion(model(x.to(device)), y.to(device)))  # want: accumulate-graph-not-grad
    torch.stack(losses).mean().backward()
    optimizer.step()


def every_few(model, loader, criterion, optimizer, steps):
    total = 0
    for i, (x, y) in enumerate(loader):
        loss = criterion(model(x), y)
        total += loss / steps  # want: accumulate-graph-not-grad
        if (i + 1) % steps == 0:
            total.backward()
            optimizer.step()
            optimizer.zero_grad()
            total = 0


def by_iterator(model, loader, optimizer, accumulate, scaler):
    batches = iter(loader)
    for _ in range(1000):
        loss_sum = torch.zeros((), device="cuda")
        for micro in range(accumulate):
            inputs, labels = next(batches)
            with torch.autocast("cuda"):
                logits = model(inputs.cuda())
                loss = F.cross_entropy(logits, labels.cuda())
            loss_sum = loss + loss_sum  # want: accumulate-graph-not-grad
        scaler.scale(loss_sum / accumulate).backward()
        scaler.step(optimizer)
        optimizer.zero_grad()


def by_sum(model, micro_batches, criterion, optimizer):
    loss = sum(criterion(model(x), y) for x, y in micro_batches)  # want: accumulate-graph-not-grad
    loss.backward()
    optimizer.step()


def direct(model, micro_batches, criterion, optimizer):
    (sum([criterion(model(x), y) for x, y in micro_batches]) / 4).backward()  # want: accumulate-graph-not-grad
    optimizer.step()


def batch_loss(model, batch, criterion):
    return criterion(model(batch["x"]), batch["y"])


def helper(model, batches, criterion, optimizer, accelerator):
    total_loss = 0.0
    for batch in batches:
        total_loss += batch_loss(model, batch, criterion)  # want: accumulate-graph-not-grad
    accelerator.backward(total_loss)
    optimizer.step()


def gather(model, batches, criterion):
    total = 0.0
    for x, y in batches:
        total = total + criterion(model(x), y)  # want: accumulate-graph-not-grad
    return total / len(batches)


def uses(model, batches, criterion, optimizer):
    loss = gather(model, batches, criterion)
    loss.backward()
    optimizer.step()


class Engine:
    def step(self, micro_batches):
        self.total = 0.0
        for x, y in micro_batches:
            out = self.model(x)
            self.total += self.criterion(out, y)  # want: accumulate-graph-not-grad
        self.total.backward()
        self.optimizer.step()


def hf(model, batches, optimizer):
    loss = 0
    for batch in batches:
        out = model(**batch)
        loss += out.loss  # want: accumulate-graph-not-grad
    loss.backward()
    optimizer.step()

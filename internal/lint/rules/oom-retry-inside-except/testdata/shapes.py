import torch


class Stepper:
    def loss(self, batch):
        return self.criterion(self.model(batch["x"]), batch["y"])

    def step(self, batch):
        self.optimizer.zero_grad()
        try:
            loss = self.loss(batch)
            loss.backward()
        except torch.OutOfMemoryError:
            torch.cuda.empty_cache()
            self.optimizer.zero_grad()
            half = {k: v[: len(v) // 2] for k, v in batch.items()}
            loss = self.loss(half)  # want: oom-retry-inside-except
            loss.backward()
        self.optimizer.step()


def looped(model, batch, criterion):
    for size in (32, 16, 8):
        try:
            return criterion(model(batch[:size]))
        except torch.cuda.OutOfMemoryError as error:
            print("retry with", size // 2, error)
            out = [model(part) for part in batch.split(size // 2)]  # want: oom-retry-inside-except
            return criterion(torch.cat(out))


def generate(model, tokenizer, prompts):
    try:
        return model.generate(**tokenizer(prompts))
    except RuntimeError as e:
        if "out of memory" in str(e).lower():
            torch.cuda.empty_cache()
            return [model.generate(**tokenizer(p)) for p in prompts]  # want: oom-retry-inside-except
        raise


def bare(model, loader, criterion, optimizer):
    for x, y in loader:
        try:
            criterion(model(x), y).backward()
        except:
            torch.cuda.empty_cache()
            criterion(model(x[::2]), y[::2]).backward()  # want: oom-retry-inside-except
        optimizer.step()

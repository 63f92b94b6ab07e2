import gc
import torch


def train_batch(self, batch):
    try:
        return self.step(batch)
    except RuntimeError as e:
        if "out of memory" not in str(e):
            raise
        gc.collect()
        torch.cuda.empty_cache()
        return self.step(batch[: len(batch) // 2])  # want: oom-retry-inside-except

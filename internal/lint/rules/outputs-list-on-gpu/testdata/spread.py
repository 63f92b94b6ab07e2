import pytorch_lightning as pl
import torch
from tqdm import tqdm


def evaluate(model, eval_dataloader, device):
    model.eval()
    found, ids = [], []
    for batch in tqdm(eval_dataloader, desc="eval"):
        with torch.no_grad(): out = model(**{k: v.to(device) for k, v in batch.items()})
        found.append(out.logits)  # want: outputs-list-on-gpu
        ids.append(out.logits.argmax(-1).cpu())
    return torch.cat(found, 0), ids


class Module(pl.LightningModule):
    def on_validation_epoch_start(self):
        self.outs, self.right = [], []

    def validation_step(self, batch, index):
        x, y = batch
        y_hat = self(x)
        self.outs.append((y_hat, y))  # want: outputs-list-on-gpu
        self.right.append((y_hat.argmax(1) == y).float().mean())
        self.right.append(y_hat.cpu())

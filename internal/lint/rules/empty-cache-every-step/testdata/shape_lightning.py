import lightning as L
import torch


class Lit(L.LightningModule):
    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = torch.nn.functional.cross_entropy(self(x), y)
        torch.cuda.empty_cache()  # want: empty-cache-every-step
        return loss

    def on_train_epoch_end(self):
        torch.cuda.empty_cache()

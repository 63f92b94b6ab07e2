import torch
import lightning as L


class Lit(L.LightningModule):
    def training_step(self, batch, i):
        loss = self.model(batch).mean()
        torch.save(self.state_dict(), "latest.ckpt")  # want: save-every-step
        return loss

    def on_train_epoch_end(self):
        torch.save(self.state_dict(), "epoch.ckpt")

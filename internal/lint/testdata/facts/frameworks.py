import pytorch_lightning as pl
import torch
from accelerate import Accelerator
from transformers import Trainer


class Lit(pl.LightningModule):
    def training_step(self, batch, batch_idx):  # func: backward hot
        loss = self.model(batch).mean()
        probe(loss, 1)  # is: tensor grad loss gpu step=false hot=true gradoff=false autocast=false
        return loss

    def validation_step(self, batch, batch_idx):  # func: gradoff eval
        probe(self.model(batch), 1)  # is: tensor nograd gpu step=false hot=false gradoff=true autocast=false


class T(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False):  # func: backward hot
        return model(**inputs).loss


accelerator = Accelerator()
model, optimizer, loader = accelerator.prepare(torch.nn.Linear(2, 2), torch.optim.SGD([]), torch.utils.data.DataLoader([]))
for epoch in range(3):  # loop: epoch
    for batch in loader:  # loop: step
        with accelerator.accumulate(model):
            probe(batch)  # is: tensor nograd gpu
            loss = model(batch).loss
            probe(loss)  # is: tensor grad loss gpu
            accelerator.backward(loss)
            optimizer.step()

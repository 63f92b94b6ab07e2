import random

import torch.nn.functional as F
import lightning.pytorch as pl

trainer = pl.Trainer(max_epochs=3, benchmark=True)  # want: cudnn-benchmark-variable-shapes


class Lit(pl.LightningModule):
    def training_step(self, batch, batch_idx):
        x, y = batch
        size = random.randrange(256, 512, 32)
        x = F.interpolate(x, size=size)
        return F.cross_entropy(self.net(x), y)

import lightning.pytorch as pl
from torchvision.models.detection import fasterrcnn_resnet50_fpn


class Det(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.m = fasterrcnn_resnet50_fpn()

    def training_step(self, batch, i):
        imgs, targets = batch
        return sum(self.m(imgs, targets).values())


trainer = pl.Trainer(benchmark=True, accelerator="gpu")  # want: cudnn-benchmark-variable-shapes

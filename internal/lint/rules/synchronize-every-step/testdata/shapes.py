import torch
import pytorch_lightning as pl
def a(net, dl, crit, opt):
    for xb, yb in dl:
        loss = crit(net(xb.cuda()), yb.cuda())
        opt.zero_grad(); loss.backward(); opt.step()
        torch.cuda.synchronize()  # want: synchronize-every-step
class L(pl.LightningModule):
    def on_train_batch_end(self, *a):
        torch.cuda.synchronize()  # want: synchronize-every-step
def b(net, dl, crit, opt):
    for xb, yb in dl:
        loss = crit(net(xb.cuda()), yb.cuda())
        opt.zero_grad(); loss.backward(); opt.step()
        torch.cuda.current_stream().synchronize()
        if torch.cuda.is_available():
            torch.cuda.synchronize(device="cuda:0")  # want: synchronize-every-step

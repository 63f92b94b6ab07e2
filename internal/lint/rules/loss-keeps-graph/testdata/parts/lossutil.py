import torch.nn.functional as F


def combined(pred, target, w=0.1):
    mse = F.mse_loss(pred, target)
    l1 = F.l1_loss(pred, target)
    return mse + w * l1, {"mse": mse, "l1": l1}

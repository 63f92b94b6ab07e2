import torch


@torch.inference_mode()
def features(backbone, dataloader):
    backbone.cuda().eval()
    chunks = [backbone(x.cuda(non_blocking=True)) for x in dataloader]  # want: outputs-list-on-gpu
    return torch.cat(chunks)


@torch.inference_mode()
def features_right(backbone, dataloader):
    backbone.cuda().eval()
    chunks = [backbone(x.cuda(non_blocking=True)).cpu() for x in dataloader]
    return torch.cat(chunks)

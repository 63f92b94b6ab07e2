import torch
from torch.nn.parallel import DistributedDataParallel


def build(model, path, local_rank):
    torch.cuda.set_device(local_rank)
    state = torch.load(path, map_location="cpu", weights_only=True)
    model.load_state_dict(state)
    return DistributedDataParallel(model.cuda(local_rank), device_ids=[local_rank])

import torch
import torch.distributed as dist


def main(path, model):
    dist.init_process_group("gloo")
    model.load_state_dict(torch.load(path))
    model = torch.nn.parallel.DistributedDataParallel(model)

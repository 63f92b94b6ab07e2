import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


class Engine:
    def __init__(self, args, model):
        dist.init_process_group(backend="nccl")
        torch.cuda.set_device(args.local_rank)
        self.model = DistributedDataParallel(model.cuda(), device_ids=[args.local_rank])

    def resume(self, file):
        ckpt = torch.load(file, weights_only=False)  # want: load-without-map-location
        self.model.module.load_state_dict(ckpt["model"])

    def resume_right(self, file):
        ckpt = torch.load(file, "cpu")
        self.model.module.load_state_dict(ckpt["model"])

import os

os.environ["CUDA_VISIBLE_DEVICES"] = os.environ["LOCAL_RANK"]
import torch
import torch.distributed as dist


def main(net):
    dist.init_process_group("nccl")
    dist.barrier()
    return torch.nn.parallel.DistributedDataParallel(net.cuda())

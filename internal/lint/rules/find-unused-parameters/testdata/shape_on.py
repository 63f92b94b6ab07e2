from torch.nn.parallel import DistributedDataParallel


def wrap(net, rank):
    return DistributedDataParallel(net.to(rank), device_ids=[rank], find_unused_parameters=True)  # want: find-unused-parameters

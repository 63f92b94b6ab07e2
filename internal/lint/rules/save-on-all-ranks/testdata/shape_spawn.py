import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(rank, net, dl, crit):
    dist.init_process_group("nccl")
    torch.cuda.set_device(rank)
    net = DDP(net.cuda(), device_ids=[rank])
    opt = torch.optim.SGD(net.parameters(), 0.1)
    for ep in range(3):
        for x, y in dl:
            loss = crit(net(x.cuda()), y.cuda())
            opt.zero_grad()
            loss.backward()
            opt.step()
        torch.save(net.module.state_dict(), "w.pt")  # want: save-on-all-ranks
        if dist.get_rank() == 0:
            torch.save(net.module.state_dict(), "w0.pt")

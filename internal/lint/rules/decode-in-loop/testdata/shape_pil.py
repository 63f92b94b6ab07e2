from PIL import Image
import torchvision.transforms.functional as TF
import torch


def fit(net, paths, crit, opt):
    net.cuda()
    for names, y in paths:
        imgs = torch.stack([TF.to_tensor(Image.open(n)) for n in names])  # want: decode-in-loop
        loss = crit(net(imgs.cuda()), y.cuda())
        opt.zero_grad()
        loss.backward()
        opt.step()

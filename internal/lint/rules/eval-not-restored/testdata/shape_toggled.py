import torch


def fit(net, dl, val, crit, opt, n):
    for _ in range(n):
        for mode in ("train", "val"):
            net.train(mode == "train")
            for x, y in dl if mode == "train" else val:
                with torch.set_grad_enabled(mode == "train"):
                    loss = crit(net(x.cuda()), y.cuda())
                if mode == "train":
                    opt.zero_grad()
                    loss.backward()
                    opt.step()
        net.eval()

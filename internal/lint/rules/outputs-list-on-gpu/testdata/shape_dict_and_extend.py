import torch


class Evaluator:
    def __init__(self, net, dev="cuda"):
        self.net = net.to(dev)
        self.dev = dev

    def collect(self, val_loader):
        self.net.eval()
        store = {"pred": [], "true": []}
        with torch.inference_mode():
            for img, lab in val_loader:
                out = self.net(img.to(self.dev))
                store["pred"].append(out)  # want: outputs-list-on-gpu
                store["true"].append(lab)
        return store

    def collect_right(self, val_loader):
        self.net.eval()
        preds = []
        with torch.inference_mode():
            for img, lab in val_loader:
                preds.append(self.net(img.to(self.dev)).cpu())
        return preds

import torch.nn.functional as F


def train(model, loader, optimizer):
    model.cuda()
    for images, labels in loader:
        images, labels = images.cuda(), labels.cuda()
        out = model(images)
        loss = 0
        for i in range(out.size(0)):  # want: python-loop-over-tensor
            loss = loss + F.cross_entropy(out[i], labels[i])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

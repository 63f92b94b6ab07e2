import torch.nn.functional as F


def train(model, loader, optimizer):
    model.cuda()
    for images, labels in loader:
        images, labels = images.cuda(), labels.cuda()
        loss = F.cross_entropy(model(images), labels, reduction="sum")
        for layer in range(len(model.layers)):
            loss = loss + model.layers[layer].penalty()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

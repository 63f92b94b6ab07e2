import torch


def stylise(net, vgg, style, loader, criterion, optimizer, gram):
    vgg.eval().cuda()
    with torch.no_grad():
        features = vgg(style.cuda())  # want: large-constant-feature-kept
        target = gram(features).detach()
    for images in loader:
        optimizer.zero_grad()
        loss = criterion(net(images.cuda()), target)
        loss.backward()
        optimizer.step()

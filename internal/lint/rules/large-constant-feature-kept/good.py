import torch


def stylise(net, vgg, style, loader, criterion, optimizer, gram):
    vgg.eval().cuda()
    with torch.no_grad():
        target = gram(vgg(style.cuda())).detach()
        anchor = vgg(style.cuda())
    for images in loader:
        optimizer.zero_grad()
        made = net(images.cuda())
        loss = criterion(made, target) + criterion(made, anchor)
        loss.backward()
        optimizer.step()

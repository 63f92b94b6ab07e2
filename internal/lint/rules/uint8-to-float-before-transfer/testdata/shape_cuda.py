def fit(net, dl, crit, opt):
    net.cuda()
    for frames, y in dl:
        frames = frames.float().div(255.0).cuda()  # want: uint8-to-float-before-transfer
        loss = crit(net(frames), y.cuda())
        opt.zero_grad()
        loss.backward()
        opt.step()

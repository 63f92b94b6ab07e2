def dcgan(netG, netD, loader, g_optimizer, d_optimizer, fixed_noise, criterion):
    for epoch in range(10):
        for i, real in enumerate(loader):
            fake = netG(real)
            criterion(netD(fake.detach())).backward()
            d_optimizer.step()
            loss = criterion(netD(fake))
            loss.backward()
            g_optimizer.step()
            if i % 100 == 0:
                save(real)
                fake = netG(fixed_noise)  # want: sample-images-with-grad
                save(fake.detach())


def save(x):
    print(x.shape)

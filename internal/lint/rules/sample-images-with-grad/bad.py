from torchvision.utils import save_image


def train(generator, discriminator, loader, optimizer, fixed_noise):
    for i, noise in enumerate(loader):
        optimizer.zero_grad()
        discriminator(generator(noise)).mean().backward()
        optimizer.step()
        if i % 100 == 0:
            fake = generator(fixed_noise)  # want: sample-images-with-grad
            save_image(fake.detach(), f"{i}.png")

import torch
from torchvision.utils import save_image


def train(generator, discriminator, loader, optimizer, fixed_noise):
    for i, noise in enumerate(loader):
        optimizer.zero_grad()
        discriminator(generator(noise)).mean().backward()
        optimizer.step()
        if i % 100 == 0:
            with torch.no_grad():
                fake = generator(fixed_noise)
            save_image(fake, f"{i}.png")

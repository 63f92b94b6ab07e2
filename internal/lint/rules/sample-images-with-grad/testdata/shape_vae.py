import torch
from torchvision.utils import save_image


def fit(vae, dl, opt, fixed):
    for i, x in enumerate(dl):
        x = x.cuda()
        loss = vae.loss(x)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if i % 200 == 0:
            shown = vae(fixed)  # want: sample-images-with-grad
            save_image(shown, f"{i}.png")


def fit_right(vae, dl, opt, fixed):
    for i, x in enumerate(dl):
        loss = vae.loss(x.cuda())
        opt.zero_grad()
        loss.backward()
        opt.step()
        if i % 200 == 0:
            with torch.no_grad():
                save_image(vae(fixed), f"{i}.png")

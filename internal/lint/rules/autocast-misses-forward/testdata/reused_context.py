import torch


def train(unet, vae, loader, opt):
    scaler = torch.amp.GradScaler()
    amp = torch.autocast("cuda", torch.float16)
    for img, noise in loader:
        noisy = img.cuda() + noise.cuda()
        eps = unet(noisy)  # want: autocast-misses-forward
        with amp:
            loss = (eps - noise.cuda()).pow(2).mean()
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()
        opt.zero_grad()

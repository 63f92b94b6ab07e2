import numpy as np
import torch


def guarded(model, loader, criterion, optimizer, device, log, every=50):
    for step, (x, y) in enumerate(loader):
        loss = criterion(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % every == 0:
            print(f"{step} {loss.item():.3f}")
        if step and step % every == 0:
            log(float(loss))
        if (step + 1) % every == 0 and step > 0:
            log(loss.cpu())


def on_the_cpu(model, loader, criterion, optimizer):
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(loss.item())


def per_epoch(model, loader, criterion, optimizer, device, epochs):
    for epoch in range(epochs):
        total = torch.zeros((), device=device)
        for x, y in loader:
            loss = criterion(model(x.to(device)), y.to(device))
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            total += loss.detach()
        print(epoch, total.item() / len(loader), loss.item())


@torch.no_grad()
def validate(model, loader, criterion, device):
    total = 0.0
    for x, y in loader:
        total += criterion(model(x.to(device)), y.to(device)).item()
    return total


def lengths_on_the_cpu(model, loader, criterion, optimizer, device):
    for x, lengths in loader:
        longest = lengths.max().item()
        scale = np.float32(1).item()
        loss = criterion(model(x[:, :longest].to(device))) * scale
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def in_background(model, loader, criterion, optimizer, device, meter):
    for x, y in loader:
        loss = criterion(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        meter.update(loss.detach(), x.size(0))
        meter.keep(loss.detach().to("cpu", non_blocking=True))


def with_environment(env, policy, optimizer, device, steps):
    obs = env.reset()
    for _ in range(steps):
        action, value = policy(torch.as_tensor(obs).to(device))
        obs, reward = env.step(action.cpu().numpy())
        loss = (value - reward) ** 2
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def acts(envs, actor, optimizer, device, obs):
    for step in range(1000):
        actions = actor(torch.as_tensor(obs).to(device))
        actions = actions.cpu().numpy().clip(-1, 1)
        obs, rewards = envs.step(actions)
        loss = (actor(torch.as_tensor(obs).to(device)) - 1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def now_and_then(model, loader, criterion, optimizer, device, log):
    for step, (x, y) in enumerate(loader):
        loss = criterion(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        last_step = step == len(loader) - 1
        log_now = step % 10 == 0
        if log_now or last_step:
            log(loss.item())

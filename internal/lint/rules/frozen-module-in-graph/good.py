import torch


def train(teacher, student, loader, criterion, optimizer):
    for inputs in loader:
        optimizer.zero_grad()
        with torch.no_grad():
            target = teacher(inputs)
        criterion(student(inputs), target).backward()
        optimizer.step()

def train(teacher, student, loader, criterion, optimizer):
    for inputs in loader:
        optimizer.zero_grad()
        target = teacher(inputs).detach()  # want: frozen-module-in-graph
        criterion(student(inputs), target).backward()
        optimizer.step()

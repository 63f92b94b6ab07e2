from engine import clean_step, train_step


def run(model, loader, optimizer):
    total, good = 0, 0
    for batch in loader:
        total += train_step(model, batch, optimizer)  # want: loss-keeps-graph
        good += clean_step(model, batch, optimizer)
    return total, good

import logging

logger = logging.getLogger(__name__)


def train(model, loader, optimizer, criterion):
    for i, (x, y) in enumerate(loader):
        loss = criterion(model(x.cuda()), y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        logger.info("step %d loss %.3f", i, loss)  # want: item-every-step

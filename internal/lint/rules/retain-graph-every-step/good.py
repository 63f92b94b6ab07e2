def train(encoder, classify, reconstruct, loader, optimizer):
    for inputs, targets in loader:
        optimizer.zero_grad()
        features = encoder(inputs)
        classify(features, targets).backward(retain_graph=True)  # the next one needs the graph
        reconstruct(features, inputs).backward()
        optimizer.step()

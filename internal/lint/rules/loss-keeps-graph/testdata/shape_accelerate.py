from accelerate import Accelerator

accelerator = Accelerator()
model, optimizer, dl = accelerator.prepare(model, optimizer, dl)
epoch_loss = 0
for step, batch in enumerate(dl):
    outputs = model(**batch)
    loss = outputs.loss
    epoch_loss += loss  # want: loss-keeps-graph
    accelerator.backward(loss)
    optimizer.step()
    optimizer.zero_grad()
print(epoch_loss / len(dl))

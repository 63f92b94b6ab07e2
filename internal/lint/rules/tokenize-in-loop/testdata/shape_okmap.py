from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")


def prepare(ds):
    return ds.map(lambda r: tokenizer(r["text"]), batched=True)


def show(model, loader, optimizer):
    for step, batch in enumerate(loader):
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 500 == 0:
            print(tokenizer.decode(batch["input_ids"][0]))

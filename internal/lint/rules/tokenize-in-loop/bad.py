def train(model, loader, tokenizer, optimizer, device):
    for rows in loader:
        optimizer.zero_grad(set_to_none=True)
        batch = tokenizer(rows["text"], padding=True, return_tensors="pt")  # want: tokenize-in-loop
        model(**batch.to(device), labels=batch["input_ids"].to(device)).loss.backward()
        optimizer.step()

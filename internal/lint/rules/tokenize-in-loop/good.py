from torch.utils.data import DataLoader


def train(model, dataset, tokenizer, optimizer, device):
    def collate(rows):
        return tokenizer([r["text"] for r in rows], padding=True, return_tensors="pt")

    for batch in DataLoader(dataset, 32, num_workers=4, collate_fn=collate):
        optimizer.zero_grad(set_to_none=True)
        model(**batch.to(device), labels=batch["input_ids"].to(device)).loss.backward()
        optimizer.step()

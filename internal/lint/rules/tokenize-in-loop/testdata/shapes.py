import pytorch_lightning as pl
import tiktoken
import torch
from accelerate import Accelerator
from transformers import AutoModelForCausalLM, AutoTokenizer, BertTokenizerFast, Trainer

tok = AutoTokenizer.from_pretrained("gpt2")


def by_global(model, texts, optimizer):
    for i in range(0, len(texts), 32):
        enc = tok(texts[i:i + 32], padding=True, truncation=True, return_tensors="pt").to("cuda")  # want: tokenize-in-loop
        loss = model(**enc, labels=enc["input_ids"]).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def by_method(model, loader, tokenizer, criterion, optimizer):
    for texts, labels in loader:
        batch = tokenizer.batch_encode_plus(list(texts), padding="longest", return_tensors="pt")  # want: tokenize-in-loop
        out = model(batch["input_ids"].cuda(), attention_mask=batch["attention_mask"].cuda())
        loss = criterion(out.logits, labels.cuda())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def one_by_one(model, lines, optimizer):
    bert = BertTokenizerFast.from_pretrained("bert-base-uncased")
    for line in lines:
        ids = torch.tensor([bert.encode(line)]).cuda()  # want: tokenize-in-loop
        loss = model(ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def in_comprehension(model, loader, criterion, optimizer, device):
    enc = tiktoken.get_encoding("gpt2")
    for texts, y in loader:
        ids = [enc.encode(t) for t in texts]  # want: tokenize-in-loop
        x = torch.nn.utils.rnn.pad_sequence([torch.tensor(i) for i in ids]).to(device)
        loss = criterion(model(x), y.to(device))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def encode(tokenizer, rows):
    return tokenizer(rows["text"], return_tensors="pt", padding=True)  # want: tokenize-in-loop


def by_helper(model, loader, tokenizer, optimizer, device):
    for rows in loader:
        batch = encode(tokenizer, rows).to(device)
        model(**batch, labels=batch["input_ids"]).loss.backward()
        optimizer.step()
        optimizer.zero_grad()


class Lit(pl.LightningModule):
    def __init__(self, name):
        super().__init__()
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModelForCausalLM.from_pretrained(name)

    def training_step(self, batch, batch_idx):
        enc = self.tokenizer(batch["text"], return_tensors="pt", padding=True)  # want: tokenize-in-loop
        return self.model(**enc.to(self.device), labels=enc["input_ids"]).loss


class Mine(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False):
        enc = self.tokenizer(text=inputs["text"], return_tensors="pt")  # want: tokenize-in-loop
        return model(**enc).loss


class Runner:
    def __init__(self, name, device):
        self.tok = AutoTokenizer.from_pretrained(name)
        self.model = AutoModelForCausalLM.from_pretrained(name).to(device)
        self.opt = torch.optim.AdamW(self.model.parameters())

    def train(self, loader):
        for texts, labels in loader:
            enc = self.tok(list(texts), padding=True, return_tensors="pt")  # want: tokenize-in-loop
            loss = self.model(**enc, labels=labels).loss
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()


def step(model, tokenizer, optimizer, texts, device):
    inputs = tokenizer(texts, padding=True, return_tensors="pt").to(device)  # want: tokenize-in-loop
    model(**inputs, labels=inputs["input_ids"]).loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def processed(model, dataloader, processor, optimizer):
    for batch in dataloader:
        inputs = processor(images=batch["image"], text=batch["text"], return_tensors="pt").to("cuda")  # want: tokenize-in-loop
        model(**inputs).loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def accelerated(model, loader, optimizer, tokenizer):
    accelerator = Accelerator()
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for rows in loader:
        with accelerator.accumulate(model):
            batch = tokenizer(rows["text"], return_tensors="pt").to(accelerator.device)  # want: tokenize-in-loop
            accelerator.backward(model(**batch).loss)
            optimizer.step()
            optimizer.zero_grad()

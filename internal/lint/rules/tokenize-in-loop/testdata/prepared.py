import torch
import pytorch_lightning as pl
from transformers import AutoTokenizer, DataCollatorWithPadding, Trainer
from torch.utils.data import DataLoader
from functools import partial
from datasets import load_dataset

def encode(rows, tokenizer):
    return tokenizer(rows["text"], truncation=True)

def a(model, opt):
    tok = AutoTokenizer.from_pretrained("x")
    ds = load_dataset("imdb").map(partial(encode, tokenizer=tok), batched=True)
    dl = DataLoader(ds, 8, collate_fn=DataCollatorWithPadding(tok), num_workers=4)
    for b in dl:
        model(**b).loss.backward()
        opt.step(); opt.zero_grad()

class Collate:
    def __init__(self, tokenizer):
        self.tokenizer = tokenizer
    def __call__(self, rows):
        return self.tokenizer([r["t"] for r in rows], padding=True, return_tensors="pt")

def b(model, ds, tok, opt):
    def coll(rows):
        return tok([r for r in rows], return_tensors="pt")
    dl = DataLoader(ds, 8, collate_fn=coll, num_workers=4)
    dl2 = DataLoader(ds, 8, collate_fn=Collate(tok), num_workers=4)
    for x in dl:
        model(**x.to("cuda")).loss.backward()
        opt.step(); opt.zero_grad()
        x = tok.pad(x)
        tok.decode(x["input_ids"][0])

class Lit(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.tok = AutoTokenizer.from_pretrained("x")
    def setup(self, stage):
        self.data = [self.tok(t) for t in open("x")]
    def collate(self, rows):
        return self.tok(rows, return_tensors="pt", padding=True)
    def train_dataloader(self):
        return DataLoader(self.data, 8, collate_fn=self.collate, num_workers=2)
    def training_step(self, b, i):
        if i % 500 == 0:
            print(self.generate("Once"))
        return self.model(**b).loss
    def generate(self, s):
        return self.model.generate(**self.tok(s, return_tensors="pt"))
    def validation_step(self, b, i):
        return self.model(**self.tok(b, return_tensors="pt")).loss

def pre(model, lines, tokenizer, opt, device):
    batches = []
    for line in lines:
        batches.append(tokenizer(line, return_tensors="pt"))
    for ep in range(3):
        eos = tokenizer.encode("</s>")
        for b in batches:
            model(**b.to(device), labels=b["input_ids"]).loss.backward()
            opt.step(); opt.zero_grad()

class Gen(torch.utils.data.IterableDataset):
    def __init__(self, path, tokenizer):
        self.path, self.tokenizer = path, tokenizer
    def __iter__(self):
        for line in open(self.path):
            yield self.tokenizer(line)["input_ids"]

def vq(vqtokenizer, img_tokenizer, model, loader, opt):
    for x in loader:
        x = x.cuda()
        with torch.no_grad():
            ids = img_tokenizer.encode(x)
        model(ids).mean().backward()
        opt.step(); opt.zero_grad()

import torch
import pytorch_lightning as pl
import transformers
from transformers import AutoTokenizer as AT, AutoModelForSequenceClassification, AutoProcessor, CLIPProcessor, GPT2Tokenizer
from accelerate import Accelerator
from functools import partial
import sentencepiece as spm
from tqdm import tqdm

t5 = transformers.T5TokenizerFast.from_pretrained("t5-small")
tokz = partial(t5, padding=True, return_tensors="pt")

def a(m, dl, opt):
    tk = AT.from_pretrained("bert-base")
    opts = dict(padding=True, truncation=True, return_tensors="pt")
    for s in tqdm(dl):
        enc = tk(s["text"], **opts).to("cuda")  # want: tokenize-in-loop
        loss = m(**enc).loss
        opt.zero_grad(); loss.backward(); opt.step()

def b(m, dl, opt):
    for s in dl:
        enc = tokz(s)  # want: tokenize-in-loop
        loss = m(**enc.to("cuda")).loss
        opt.zero_grad(); loss.backward(); opt.step()

def c(model, data, opt, batch_size):
    tok = GPT2Tokenizer.from_pretrained("gpt2")
    step = 0
    while step < 100:
        chunk = data[step * batch_size:(step + 1) * batch_size]
        ids = tok.batch_encode_plus(chunk, return_tensors="pt")["input_ids"].cuda()  # want: tokenize-in-loop
        loss = model(ids, labels=ids)[0]
        opt.zero_grad(); loss.backward(); opt.step()
        step += 1

def d(model, data, opt):
    sp = spm.SentencePieceProcessor(model_file="x")
    for line in data:
        ids = torch.tensor(sp.encode(line)).cuda()  # want: tokenize-in-loop
        loss = model(ids, labels=ids)[0]
        opt.zero_grad(); loss.backward(); opt.step()

class Clf(pl.LightningModule):
    def __init__(self, name):
        super().__init__()
        self.tok = AT.from_pretrained(name)
        self.m = AutoModelForSequenceClassification.from_pretrained(name)
    def prep(self, texts):
        return self.tok(texts, return_tensors="pt", padding=True)  # want: tokenize-in-loop
    def training_step(self, batch, batch_idx):
        enc = self.prep(batch["text"]).to(self.device)
        return self.m(**enc, labels=batch["y"]).loss

class Enc(torch.nn.Module):
    def __init__(self, name):
        super().__init__()
        self.tokenizer = AT.from_pretrained(name)
        self.bert = transformers.AutoModel.from_pretrained(name)
        self.head = torch.nn.Linear(768, 2)
    def forward(self, texts):
        enc = self.tokenizer(texts, return_tensors="pt", padding=True).to("cuda")  # want: tokenize-in-loop
        return self.head(self.bert(**enc).pooler_output)

def train_enc(dl, opt, criterion):
    model = Enc("bert").cuda()
    for texts, y in dl:
        loss = criterion(model(texts), y.cuda())
        opt.zero_grad(); loss.backward(); opt.step()

def acc(model, opt, dl):
    accelerator = Accelerator()
    tokenizer = AT.from_pretrained("x")
    model, opt, dl = accelerator.prepare(model, opt, dl)
    for step, ex in enumerate(dl):
        inputs = tokenizer.encode_plus(ex["q"], ex["c"], return_tensors="pt")  # want: tokenize-in-loop
        accelerator.backward(model(**inputs).loss)
        opt.step(); opt.zero_grad()

def sd(unet, text_encoder, tokenizer, loader, opt):
    for batch in loader:
        ids = tokenizer(batch["caption"], max_length=77, padding="max_length", return_tensors="pt").input_ids.cuda()  # want: tokenize-in-loop
        h = text_encoder(ids)[0]
        loss = unet(batch["x"].cuda(), h).mean()
        loss.backward()
        opt.step()

class Tr:
    def __init__(self, model, tokenizer, opt):
        self.model = model
        self.tokenizer = tokenizer
        self.opt = opt
    def collate(self, texts):
        return self.tokenizer(texts, padding=True, return_tensors="pt")  # want: tokenize-in-loop
    def fit(self, loader):
        for texts, labels in loader:
            b = self.collate(texts)
            loss = self.model(**b.to("cuda"), labels=labels).loss
            loss.backward()
            self.opt.step()
            self.opt.zero_grad()

def clip(model, loader, opt):
    proc = CLIPProcessor.from_pretrained("clip")
    for imgs, texts in loader:
        inp = proc(text=texts, images=imgs, return_tensors="pt", padding=True)  # want: tokenize-in-loop
        loss = model(**inp.to("cuda"), return_loss=True).loss
        loss.backward(); opt.step(); opt.zero_grad()

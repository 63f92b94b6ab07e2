from transformers import AutoModelForCausalLM, AutoTokenizer

tk = AutoTokenizer.from_pretrained("gpt2")
lm = AutoModelForCausalLM.from_pretrained("gpt2").cuda()


def fit(dl, opt):
    for texts in dl:
        enc = tk(texts, return_tensors="pt", padding=True)  # want: tokenize-in-loop
        loss = lm(**enc.to("cuda"), labels=enc["input_ids"]).loss
        opt.zero_grad()
        loss.backward()
        opt.step()

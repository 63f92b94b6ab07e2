import torch
from transformers import AutoModelForSequenceClassification

net = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased").to("cuda")


def run_eval(dataloader):
    net.eval()
    preds = []
    for batch in dataloader:
        batch = {k: v.to("cuda") for k, v in batch.items()}
        outputs = net(**batch)  # want: eval-without-no-grad
        preds.extend(outputs.logits.argmax(-1).tolist())
    return preds


class Inference:
    def __call__(self, dataloader):
        net.eval()
        with torch.inference_mode():
            return [net(**b).logits.argmax(-1).tolist() for b in dataloader]

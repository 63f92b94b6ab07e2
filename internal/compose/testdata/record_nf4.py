"""Record what bitsandbytes takes to quantize weights to 4 bits.

usage: record_nf4.py OUT.json.gz

Run it as record.py. Each case quantizes some bf16 or fp16 weights one after the
other ("steps", in record.py's words), with or without nested scales.
"""
import gzip
import json
import sys

import torch

from record import DTYPES, Events, card, forked

SHAPES = [[256, 192], [300, 100], [33, 7], [4096, 1024], [11008, 4096], [14336, 4096], [1000, 1001]]


def measure(nested, element):
    import bitsandbytes as bnb
    torch.zeros(1, device="cuda")
    events = Events()
    events.skip()
    out, kept = [], []
    for rows, columns in SHAPES:
        layer = bnb.nn.Linear4bit(columns, rows, bias=False, compress_statistics=nested, quant_type="nf4")
        layer.weight.data = layer.weight.data.to(DTYPES[element])
        kept.append(layer.cuda())
        out.append(events.span())
    return {"steps": out}


def main():
    recorded = []
    for nested in (False, True):
        for element in (2, 4):
            res = forked(lambda: measure(nested, element))
            recorded.append({"id": f"nested-{nested}-{element}", "nested": nested, "element": element, "shapes": SHAPES, **res})
            print(recorded[-1]["id"], res.get("error", ""), flush=True)
    text = json.dumps({"torch": torch.__version__, "device": forked(card), "cases": recorded})
    with gzip.GzipFile(sys.argv[1], "wb", mtime=0) as f:
        f.write(text.encode())


main()

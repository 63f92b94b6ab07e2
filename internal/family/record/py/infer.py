"""Generation as generate() does it: a prompt at once, then token after token.

The keys and values of earlier tokens are kept in a DynamicCache, which grows by
concatenation. The second token is what a tape holds; it finds what all later
ones find. Dimension Y is the number of keys that it sees.
"""
import torch
import transformers

import batch


def run(row, job, model, params, layers, marks):
    d = job["dims"]
    d["Y"] = d["S"] + 2
    cache = transformers.DynamicCache(config=model.config)
    ids = None
    with torch.no_grad():
        for scope in ("first", "decode-first", "decode", "decode-next"):
            marks.enter(scope, "batch")
            if ids is None:
                ids = batch.ids(d["B"], d["S"])
            layers.begin()
            marks.part("forward")
            given = ids if scope == "first" else ids[:, -1:]
            out = model(input_ids=given, past_key_values=cache, use_cache=True, logits_to_keep=1)
            marks.part("loss")
            scores = out.logits[:, -1].to(copy=True, dtype=torch.float32)
            token = scores.argmax(-1)
            ids = torch.cat([ids, token[:, None]], -1)
            del given, out, scores, token
            marks.part("end")
    marks.enter("end", "end")
    return {}

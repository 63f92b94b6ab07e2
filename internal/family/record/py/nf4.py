"""Models whose linear layers bitsandbytes stores in 4 bits, as QLoRA trains on.

Every linear layer but the head is stored in 4 bits, with scales in float32, and
computes in the precision of the job. Weights come to the card one after another
and are quantized there.
"""
import sys

import torch

import adapt
import build

# How bitsandbytes multiplies: with the weight unpacked, or as it is.
PRODUCTS = ("_dequant_linear_fallback", "_gemm_4bit_kernel_impl")


def model(row, job, shape, marks):
    """The quantized model of a job, from one on the meta device."""
    from bitsandbytes.nn import Linear4bit

    sys.modules["__main__"].NOTED += PRODUCTS  # record.py, which is run
    find_bitsandbytes()
    replace(shape, shape.get_output_embeddings(), Linear4bit)
    shape.is_loaded_in_4bit = True
    watch, done = adapt.Watch(build.stacks_of(row, shape, job), marks), {}
    for module in shape.modules():
        watch.at(module, "load")
        for name, p in list(module.named_parameters(recurse=False)):
            if id(p) not in done:  # the head may share its weight
                done[id(p)] = (p, loaded(module, p, isinstance(module, Linear4bit) and name == "weight"))
            setattr(module, name, done[id(p)][1])
        for name, b in list(module.named_buffers(recurse=False)):
            module._buffers[name] = torch.empty_like(b, device="cuda")
    watch.end("load")
    return shape


def find_bitsandbytes():
    """Lets PEFT see bitsandbytes, which was hidden from it before jobs were forked."""
    from peft import import_utils

    import_utils.is_bnb_available.cache_clear()
    import_utils.is_bnb_4bit_available.cache_clear()


def replace(model, head, kind):
    for parent in list(model.modules()):
        for name, m in list(parent.named_children()):
            if type(m) is torch.nn.Linear and m is not head:
                options = {"compute_dtype": torch.get_default_dtype(), "compress_statistics": False, "quant_type": "nf4", "device": "meta"}
                new = kind(m.in_features, m.out_features, m.bias is not None, **options)
                setattr(parent, name, new)


def loaded(module, p, quantized):
    if quantized:
        from bitsandbytes.nn import Params4bit

        whole = torch.empty(p.shape, dtype=torch.get_default_dtype())
        return Params4bit(whole, requires_grad=False, quant_type="nf4", compress_statistics=False, module=module).to("cuda")
    return torch.nn.Parameter(torch.empty_like(p, device="cuda"))

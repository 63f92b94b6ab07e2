"""Record what PyTorch's kernels ask for, as rows that the package's tests compare.

Run it on the virtual GPU, once per card, from the root of the repository:

    go run ./internal/capture/vgpu/vgpuenv --python PYTHON --gpu-cc 80 --sms 108 -- \
        PYTHON internal/symbolic/kernel/testdata/record.py internal/symbolic/kernel/testdata

(PYTHON: an interpreter with the CUDA build of PyTorch 2.15, or 2.6 for what differs there.) The committed files are
of --gpu-cc 75 --sms 40, 80/108, 86/82 and 90/132, and, with a further argument of 5 that
keeps a fifth of the rows, of 100/148 and 120/170; 89/128 and 121/48, recorded with
1 and unpacked, have the rows of that function only. Slopes need Transformers 5.24. The sizes come from PyTorch's
own host code, which decides them before any kernel would start, so no card is needed.

A row is the arguments of a function and, last, the bytes; shapes are drawn on both sides of each threshold
of the function, by a generator with a fixed seed.
"""
import json
import random
import sys
import warnings

import torch

R = random.Random(4)
DEVICE = dict(device="cuda")
BF16, FP16, FP32 = torch.bfloat16, torch.float16, torch.float32


def allocations(run):
    """The sizes that run() requests, in order, and those of them that it frees before it returns."""
    torch.cuda.memory._record_memory_history(enabled=None)
    torch.cuda.memory._record_memory_history(max_entries=10**6, stacks="python", context=None)
    result = run()
    trace = torch.cuda.memory._snapshot()["device_traces"][0]
    del result
    live, sizes = {}, []
    for e in trace:
        if e["action"] == "alloc":
            live[e["addr"]] = len(sizes)
            sizes.append([e["size"], False])
        elif e["action"] == "free_requested" and e["addr"] in live:
            sizes[live.pop(e["addr"])][1] = True
    return sizes


def temporaries(run):
    return [size for size, freed in allocations(run) if freed]


def empty(*shape, dtype=FP32, **k):
    return torch.empty(shape, dtype=dtype, **DEVICE, **k)


def near(*thresholds, low=1, high=None):
    """A number at, beside or between the thresholds."""
    t = R.choice(thresholds)
    return max(low, R.choice([t - 1, t, t + 1, R.randint(low, 2 * t), int(t * R.random()) + 1]))


def width():
    """A size of a model's layer: mostly round, sometimes odd."""
    return R.choice([1, 2, 3, 4, 6, 8, 10, 16, 32, 48, 64, 96, 100, 128, 192, 256, 384, 512, 576, 640, 766, 768, 770, 896, 1024,
                     1280, 1536, 2048, 2304, 3072, 4096, 11008, 30522, 50257, R.randint(1, 4096)])


# --- reductions -----------------------------------------------------------------

def two(sizes):
    assert len(sizes) in (0, 2), sizes
    return sizes or [0, 0]


def reductions(rows):
    for _ in range(220):
        inputs, outputs = near(16, 256, 4096, 8192, 65536), width()
        if inputs * outputs > 2**28:
            continue
        dtype = R.choice([BF16, FP16, FP32])
        x = empty(inputs, outputs, dtype=dtype)
        run, acc = R.choice([(lambda: x.sum(0), 4), (lambda: x.mean(0), 4), (lambda: torch.linalg.vector_norm(x, 2, 0), 4),
                             (lambda: x.var(0), 16), (lambda: x.amax(0), x.element_size())])
        staging, semaphores = two(temporaries(run))
        rows.append(["reduce_outer", [outputs, inputs, acc], staging])
        rows.append(["reduce_outer_semaphores", [outputs, inputs], semaphores])
    for _ in range(160):
        outputs, inputs = R.choice([1, 1, 2, 3, 8, width(), R.randint(1, 70000)]), near(128, 512, 4096, 131072, 1 << 20)
        if inputs * outputs > 2**28:
            continue
        dtype = R.choice([BF16, FP16, FP32])
        x = empty(outputs, inputs, dtype=dtype)
        run, acc = R.choice([(lambda: x.sum(-1), 4), (lambda: x.mean(-1), 4), (lambda: torch.linalg.vector_norm(x, 2, -1), 4),
                             (lambda: x.var(-1), 16), (lambda: x.argmax(-1), 16)])
        staging, semaphores = two(temporaries(run))
        rows.append(["reduce_inner", [outputs, inputs, acc], staging])
        rows.append(["reduce_inner_semaphores", [outputs, inputs], semaphores])
    for _ in range(60):
        n = near(4096, 131072, 1 << 22)
        x = empty(n)
        staging, semaphores = two(temporaries(lambda: R.choice([torch.sum, torch.mean])(x)))
        rows.append(["reduce_inner", [1, n, 4], staging])
        rows.append(["reduce_inner_semaphores", [1, n], semaphores])
    for _ in range(80):
        b, c, s = near(2, 16, 64), width(), R.choice([1, 7, 14, 28, 56, 112, 224, R.randint(1, 224)])
        if b * c * s * s > 2**28 or c > 4096:
            continue
        x = empty(b, c, s, s, dtype=R.choice([BF16, FP32]))
        staging, semaphores = two(temporaries(lambda: x.sum((0, 2, 3))))
        name = "reduce_inner" if s > 1 else "reduce_outer"
        rows.append([name, [c, b * s * s, 4], staging])
        rows.append([name + "_semaphores", [c, b * s * s], semaphores])
    for _ in range(80):
        b, t, f = near(4, 16, 64), near(16, 256, 4096), width()
        if b * t * f > 2**28 or f == 1:
            continue
        x = empty(b, t, f, dtype=R.choice([BF16, FP32]))
        staging, semaphores = two(temporaries(lambda: x.sum(1)))
        rows.append(["reduce_middle", [f, b * f, t, 4], staging])
        rows.append(["reduce_middle_semaphores", [f, b * f, t], semaphores])


def large_reductions(rows):
    """Inputs of more than 2 GiB. The virtual card has no memory to fill."""
    for _ in range(60):
        dtype, axis = R.choice([BF16, FP16, FP32]), R.choice([0, 0, None])
        outputs = R.choice([512, 1024, 2048, 3072, 4096, 30522, R.randint(400, 5000)])
        e = 4 if dtype is FP32 else 2
        inputs = R.randint(2**30, 2**33) // (outputs * e)
        x = empty(inputs, outputs, dtype=dtype)
        sizes = [s for s, freed in allocations(lambda: x.sum() if axis is None else x.sum(0)) if freed]
        out, n = (1, inputs * outputs) if axis is None else (outputs, inputs)
        accumulation = sizes.pop(0) if len(sizes) % 2 else 0
        rows.append(["reduce_accumulation", [out, n, e], accumulation])
        for part in range(len(sizes) // 2 + 1):
            staging, semaphores = sizes[2 * part:2 * part + 2] or (0, 0)
            if axis is None:
                rows.append(["reduce_all_part", [n, 4, e, part], staging])
            else:
                rows.append(["reduce_outer_part", [out, n, 4, e, part], staging])
                rows.append(["reduce_outer_part_semaphores", [out, n, e, part], semaphores])


def image_reductions(rows):
    """The gradient of a convolution's bias where the output has more than 2 GiB."""
    own = random.Random(5)
    for _ in range(40):
        e = own.choice([2, 4])
        channels, side = own.choice([16, 24, 32, 64, 96, 128, own.randint(8, 200)]), own.choice([55, 56, 109, 112, 160, 224, own.randint(40, 300)])
        images = own.randint(2**30, 2**33) // (channels * side * side * e) + 2
        x = empty(images, channels, side, side, dtype=FP32 if e == 4 else FP16)
        sizes = temporaries(lambda: x.sum((0, 2, 3)))
        accumulation = sizes.pop(0) if len(sizes) % 2 else 0
        rows.append(["reduce_accumulation", [channels, images * side * side, e], accumulation])
        for part in range(len(sizes) // 2 + 1):
            staging, semaphores = sizes[2 * part:2 * part + 2] or (0, 0)
            rows.append(["reduce_batch_part", [images, channels, side * side, 4, e, part], staging])
            rows.append(["reduce_batch_part_semaphores", [images, channels, side * side, e, part], semaphores])


# --- layer_norm -----------------------------------------------------------------

def layer_norm(rows):
    processors = torch.cuda.get_device_properties(0).multi_processor_count
    for _ in range(60):
        m, n = near(65536, 131072, 400000), near(32, 512, 16 * processors, low=1)
        if m * n > 2**28 or n == 1:
            continue
        dtype = R.choice([BF16, FP32])
        x, w = empty(m, n, dtype=dtype, requires_grad=True), empty(n, dtype=dtype, requires_grad=True)
        g = x.detach()
        y, mean, rstd = torch.ops.aten.native_layer_norm(x.detach(), [n], w.detach(), w.detach(), 1e-5)
        sizes = [s for s, _ in allocations(lambda: torch.ops.aten.native_layer_norm_backward(g, g, [n], mean, rstd, w.detach(), w.detach(), [True] * 3))]
        assert sizes[1] == sizes[2] == n * w.element_size()
        sizes = sizes[3:] or [0] * 6
        if len(sizes) == 4:  # a short sum that is not split
            sizes = sizes[:3] + [0, 0] + sizes[3:]
        partials, again, total, staging, semaphores = sizes[:5]
        assert partials == again
        e = w.element_size()
        rows.append(["layer_norm_partials", [m, n, e], partials])
        rows.append(["layer_norm_sum", [m, n, e], total])
        rows.append(["layer_norm_sum_staging", [m, n], staging])
        rows.append(["layer_norm_sum_semaphores", [m, n], semaphores])


# --- embedding ------------------------------------------------------------------

def embedding(rows):
    processors = torch.cuda.get_device_properties(0).multi_processor_count
    for k in range(240):
        n, v = near(3072, 4096, 20000, 200000), near(2, 256, 1000, 32000, 65536, 151936)
        if k % 3 == 0:
            v = near(4 * processors, n // 30)
        if k % 15 == 0:
            n = 30 * v
        h, dtype = R.choice([32, 64, 1024, 1025, 2000, R.randint(1, 40)]) if v < 1000 else R.randint(1, 40), R.choice([BF16, FP16, FP32])
        g, i = empty(n, h, dtype=dtype), empty(n, dtype=torch.long)
        sizes = [s for s, _ in allocations(lambda: torch.ops.aten.embedding_dense_backward(g, i, v, -1, False))]
        if n <= 3072:
            assert sizes == [v * h * g.element_size()], (n, sizes)
            sizes = [0] * 15
        a, b, c, sort, _, d, count, e, unique, segments, offsets, scan, count2, partials, *rest = sizes
        assert a == b == c == d == e and count == count2 and segments == offsets
        fused = n > 3072 and rest[0] == partials and partials != (n // 10 + min(n, v)) * h * 4
        gradients, owners, accumulator = (0, *(rest + [0])[:2]) if fused else (rest[0], 0, 0)
        args = [n, v, h]
        rows += [["embedding_indices", [n], a], ["embedding_counter", [n], count], ["embedding_sort", [n, v], sort],
                 ["embedding_unique", [n], unique], ["embedding_segments", [n, v], segments], ["embedding_scan", [n, v], scan],
                 ["embedding_partials", [n, v], partials], ["embedding_partial_gradients", args, gradients],
                 ["embedding_fused_rows", args, owners], ["embedding_fused_accumulator", [*args, g.element_size()], accumulator]]


def embedding_before(rows):
    """The same in PyTorch 2.6."""
    for _ in range(60):
        n, v, h = near(3072, 3840, 20000, 200000), near(2, 256, 1000, 32000, 65536, 151936), R.randint(1, 40)
        g, i = empty(n, h), empty(n, dtype=torch.long)
        sizes = [s for s, _ in allocations(lambda: torch.ops.aten.embedding_dense_backward(g, i, v, -1, False))]
        if n <= 3072:
            assert sizes == [v * h * 4], (n, sizes)
            sizes = [0] * 15
        rows += [["embedding_sort_all_bits", [n], sizes[3]], ["embedding_all_partial_gradients", [n, v, h], sizes[14]]]


# --- attention ------------------------------------------------------------------

def both(backend, shapes, dtype, mask=None, dropout=0.0, **k):
    """The sizes that the forward and the backward pass ask for, each with whether it is freed."""
    from torch.nn.attention import sdpa_kernel
    q, key, v = (empty(*s, dtype=dtype, requires_grad=True) for s in shapes)
    with sdpa_kernel(backend):
        out = []
        forward = allocations(lambda: out.append(torch.nn.functional.scaled_dot_product_attention(q, key, v, mask, dropout, **k)))
        g = empty(*out[0].shape, dtype=dtype)
        grads = []
        backward = allocations(lambda: grads.append(torch.autograd.grad(out[0], (q, key, v), g)))
    return [s for s, _ in forward], backward


def efficient(rows):
    from torch.nn.attention import SDPBackend
    turing = torch.cuda.get_device_capability()[0] < 8
    for _ in range(160):
        b, h, s, t = near(1, 4), near(1, 12, 64), near(32, 64, 128, 500), near(64, 128, 256, 1000)
        t = R.choice([t, t, s])
        d = 8 * near(4, 8, 12, 16, 25, 32)
        v = R.choice([d, d, d, 8 * near(8, 16)])
        dtype = R.choice([FP16, FP32] if turing else [BF16, FP16, FP32])
        if b * h * max(s, t) * max(d, v) > 2**25:
            continue
        dropout, masked = R.choice([0.0, 0.0, 0.1]), R.choice([True, False])
        mask = empty(b, 1, s, t, dtype=dtype) if masked else None
        forward, backward = both(SDPBackend.EFFICIENT_ATTENTION, [(b, h, s, d), (b, h, t, d), (b, h, t, v)], dtype, mask, dropout)
        e = 4 if dtype is FP32 else 2
        pad = 0
        if masked and t % 8:
            pad = forward.pop(0)
        if masked:
            rows.append(["attention_mask_padded", [b * s, t, e], pad])
        forward = [n for n in forward if n != 8] + [0]
        assert forward[0] == b * h * s * v * e, forward
        rows.append(["efficient_logsumexp", [b * h, s], forward[1]])
        rows.append(["efficient_output_accumulator", [b * h * s, d, v, e], forward[2]])
        rows.append(["efficient_backward_workspace_cross", [b * h, s, t, d, v, e, int(dropout > 0)], backward[-1][0]])
        if s == t and d == v:
            rows.append(["efficient_backward_workspace", [b * h, s, d, e, int(dropout > 0)], backward[-1][0]])


def flash(rows):
    from torch.nn.attention import SDPBackend
    if torch.cuda.get_device_capability()[0] < 8:
        return
    for _ in range(200):
        b, h, s, t = near(1, 2), near(1, 8, 32), near(64, 128, 500, 1000), near(64, 256, 1000, 4000)
        t = R.choice([t, s])
        d = R.choice([8, 12, 32, 33, 64, 72, 80, 96, 100, 128, 130, 136, 160, 192, 200, 224, 256])
        group = R.choice([1, 1, 2, 3])
        dtype, dropout = R.choice([BF16, FP16]), R.choice([0.0, 0.0, 0.0, 0.1])
        if torch.cuda.get_device_capability() in ((8, 6), (12, 0)) and d > 192 and (dropout or d < 256):
            continue
        if s == 1 or b * h * group * max(s, t) * d > 2**25:
            continue
        shapes = [(b, h * group, s, d), (b, h, t, d), (b, h, t, d)]
        forward, backward = both(SDPBackend.FLASH_ATTENTION, shapes, dtype, None, dropout, enable_gqa=group > 1)
        h, kv = h * group, h
        pads, wide = [0, 0, 0], (d + 7) // 8 * 8
        if d % 8:
            pads, forward = forward[:3], forward[3:]
        rows.append(["attention_head_padded", [b * h * s, d, 2], pads[0]])
        rows.append(["attention_head_padded", [b * kv * t, d, 2], pads[1]])
        assert forward[:2] == [b * h * s * wide * 2, b * h * s * 4], forward
        splits = forward[2:4] if forward[2] > 16 else [0, 0]
        rows.append(["flash_splits_logsumexp_cross", [b * h, s, t, d, int(dropout > 0)], splits[0]])
        rows.append(["flash_splits_output_cross", [b * h, s, t, d, int(dropout > 0)], splits[1]])
        if s == t:
            rows.append(["flash_splits_logsumexp", [b * h, s, d, int(dropout > 0)], splits[0]])
            rows.append(["flash_splits_output", [b * h, s, d, int(dropout > 0)], splits[1]])
        sizes = [n for n, freed in backward]
        if d % 8:
            sizes = sizes[:-3]
        groups = 0
        if group > 1:
            assert sizes[-1] == sizes[-2]
            groups, sizes = sizes[-1], sizes[:-2]
        rows.append(["flash_backward_sums", [b * h, s], sizes[-2]])
        rows.append(["flash_backward_query", [b * h, s, d], sizes[-1]])
        rows.append(["flash_backward_group", [b * h * t, h, kv, d, 2], groups])


def cudnn_attention(rows):
    from torch.nn.attention import SDPBackend
    if torch.cuda.get_device_capability() != (9, 0):
        return
    for _ in range(40):
        b, h, s, t, d = near(2, 4), near(2, 12), near(64, 500, low=2), near(64, 500, low=2), 8 * near(4, 8, 16)
        if d > 128:
            continue
        _, backward = both(SDPBackend.CUDNN_ATTENTION, [(b, h, s, d), (b, h, t, d), (b, h, t, d)], BF16)
        rows.append(["cudnn_attention_workspace", [b * h * s, d], backward[-1][0]])


# --- batch_norm -----------------------------------------------------------------

def batch_norm(rows):
    for _ in range(100):
        b, c, s = near(2, 8, 64), near(2, 16, 32, 64, 512, 2048), R.choice([7, 14, 28, 56, 112, R.randint(2, 112)])
        if b * c * s * s > 2**25 or c == 1:
            continue
        x = empty(b, c, s, s, dtype=BF16).contiguous(memory_format=torch.channels_last).requires_grad_()
        w, bias, mean, var = (empty(c) for _ in range(4))
        w.requires_grad_(), bias.requires_grad_()
        g, out = x.detach(), []
        forward = [n for n, freed in allocations(lambda: out.append(torch.nn.functional.batch_norm(x, mean, var, w, bias, True))) if freed]
        backward = [n for n, _ in allocations(lambda: torch.autograd.grad(out[0], (x, w, bias), g))]
        assert backward[:4] == [4 * c] * 4
        staging, semaphores = two(forward)
        again = two(backward[4:-1])
        assert semaphores == again[1]
        rows.append(["batch_norm_staging", [b * s * s, c], staging])
        rows.append(["batch_norm_semaphores", [b * s * s, c], semaphores])
        rows.append(["batch_norm_backward_staging", [b * s * s, c], again[0]])


# --- indices --------------------------------------------------------------------

def indices(rows):
    for _ in range(60):
        n, v = near(2304, 3840, 20000), near(2, 256, 3000, 65536)
        x, i, g = empty(v, 4), empty(n, dtype=torch.long), empty(n, 4)
        sizes = [s for s, _ in allocations(lambda: torch._index_put_impl_(x, [i], g, True, True)) if s != n * 8]
        rows.append(["index_put_sort", [n, v], sizes[-1]])
        n, dtype = near(4096, 5376, 50000), R.choice([torch.long, torch.int32, FP32])
        x = empty(n, dtype=dtype)
        e = x.element_size()
        sizes = [s for s, freed in allocations(lambda: torch.sort(x)) if freed and s not in (n * 8, n * e)]
        rows.append(["sort_temporary", [n, e], sizes[0] if sizes else 0])
        outer, n = R.choice([1, 1, 1, 2, 8]), near(2, 14336, 61440, 200000)
        x = empty(outer, n, dtype=R.choice([torch.long, torch.int32, torch.bool, FP32]))
        out = []
        sizes = temporaries(lambda: out.append(x.cumsum(-1)))
        e = out[0].element_size()
        sizes = [s for s in sizes if s != outer * n * e]
        rows.append(["scan_temporary", [outer, n, e], sizes[0] if sizes else 0])
        n = near(2, 4096, 20480, 73728, 135168)
        sizes = [s for s, freed in allocations(lambda x=empty(n, dtype=torch.bool): x.nonzero()) if s]
        rows.append(["nonzero_count", [n], sizes[1]])
        rows.append(["nonzero_select", [n], sizes[2]])


# --- matrix products ------------------------------------------------------------

def matmul(rows):
    capability = torch.cuda.get_device_capability()
    for _ in range(20):
        m, k, n = near(2, 64, 512), near(2, 64, 512), near(2, 64, 512)
        a, b, bias = empty(m, k), empty(n, k), empty(n)
        rows.append(["cublas_workspace", [], temporaries(lambda: a @ b.t())[-1]])
        rows.append(["cublaslt_workspace", [k, n], temporaries(lambda: torch.nn.functional.linear(a, b, bias))[-1] if min(k, n) > 1 else 0])
    for _ in range(30 if capability[0] in (8, 9, 12) else 0):
        groups, m, k, n = near(2, 8, 64), near(64, 1000, 20000), 8 * near(8, 100), 8 * near(8, 100)
        x, w, offsets = empty(m, k, dtype=BF16), empty(groups, k, n, dtype=BF16), torch.zeros(groups, dtype=torch.int32, **DEVICE)
        arguments, workspace = two(temporaries(lambda: torch.nn.functional.grouped_mm(x, w, offs=offsets)))
        rows.append(["grouped_mm_arguments", [groups], arguments])
        rows.append(["grouped_mm_workspace", [], workspace])


# --- weights in 4 bits ----------------------------------------------------------

def unpacked(rows):
    from bitsandbytes.backends.cuda import ops

    warnings.simplefilter("ignore")  # of widths that are no multiple of 64
    own = random.Random(6)
    p = torch.cuda.get_device_properties(0)
    wave = 64 * p.multi_processor_count
    capability = p.major * 10 + p.minor
    for _ in range(500):
        n = own.choice([wave * own.choice([1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 30, 36, 48]) // 12 + own.choice([-64, 0, 64]), 64 * own.randint(1, 400), own.randint(1, 20000)])
        k = own.choice([64 * own.randint(1, 256), max(1, n * own.choice([1, 2, 3]) // own.choice([1, 2]) // 64) * 64] * 2 + [own.randint(2, 4000)])
        n, k = max(2, n), min(k, 32768)
        m = own.choice([own.choice([4, 5, 6, 7, 8, 9, 10, 12, 16, 23, 32, 48, 64, 96, 128, 192, 256, 320, 384, 512, 1536]) + own.choice([0, 0, 1]), own.randint(1, 700), own.randint(1, 2000)])
        dtype = own.choice([FP16 if capability == 75 else BF16] * 5 + [FP32])
        a, b = empty(m, k, dtype=dtype), empty((n * k + 1) // 2, 1, dtype=torch.uint8)
        scales = empty(-(-n * k // 64))
        ops._gemm_4bit_use_custom_cuda.cache_clear()
        freed = temporaries(lambda: torch.ops.bitsandbytes.gemm_4bit(a, b, [n, k], scales, 64, "nf4"))
        rows.append(["unpacked_weight", [m, n, k, a.element_size()], freed[0] if freed else 0])


# --- slopes of attention's biases -----------------------------------------------

def alibi(rows):
    from transformers.models.bloom.modeling_bloom import _get_alibi_slopes

    for heads in range(1, 130):
        sizes = [size for size, _ in allocations(lambda: _get_alibi_slopes(heads, torch.device("cuda")))]
        _, powers, slopes, *further = sizes
        assert powers == slopes and (not further or further[1] == further[2]), sizes
        rows.append(["alibi_slopes", [heads], powers])
        rows.append(["alibi_further_slopes", [heads], further[1] if further else 0])


KERNELS = [reductions, large_reductions, layer_norm, embedding, efficient, flash, cudnn_attention, batch_norm, indices, matmul, image_reductions, unpacked, alibi]


def main(folder, every=1, only=None):
    p = torch.cuda.get_device_properties(0)
    rows, older = [], torch.__version__.startswith("2.6.")
    for k in [embedding_before] if older else KERNELS:
        if only in (None, k.__name__):
            k(rows)
    table = {}
    for name, args, size in R.sample(rows, len(rows) // int(every)):
        table.setdefault(name, {})[tuple(args)] = size
    head = {"torch": torch.__version__, "capability": p.major * 10 + p.minor, "multiprocessors": p.multi_processor_count,
            "threads_per_multiprocessor": p.max_threads_per_multi_processor}
    with open(f"{folder}/{head['capability']}-{head['multiprocessors']}{'-torch-2.6' if older else ''}.json", "w") as f:
        f.write(json.dumps(head)[:-1] + ', "rows": {')
        for i, (name, found) in enumerate(sorted(table.items())):
            f.write(f'{"," if i else ""}\n"{name}": ' + json.dumps([[*args, size] for args, size in sorted(found.items())], separators=(",", ":")))
        f.write("\n}}\n")
    sizes = [size for found in table.values() for size in found.values()]
    print(len(table), "functions,", len(sizes), "rows,", sum(1 for size in sizes if size), "with an allocation")


main(*sys.argv[1:])

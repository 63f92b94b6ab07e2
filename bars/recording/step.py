"""One step of a public transformer, as its author recorded it on a real H100.

usage: step.py --systems CHECKOUT --basics CHECKOUT [--context 128] [--forward] [--mixed] [--after backward]

The model, the optimizer and the loop are those of the two checkouts; nothing of them is kept here.
"""
from __future__ import annotations

import argparse
import importlib.metadata
import os
import sys
import tempfile

import torch


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--systems", required=True, help="checkout of kkaitlyn111/cs336-a2-systems")
    parser.add_argument("--basics", required=True, help="checkout of kkaitlyn111/cs336-assignment1")
    parser.add_argument("--context", type=int, default=128)
    parser.add_argument("--forward", action="store_true")
    parser.add_argument("--mixed", action="store_true")
    parser.add_argument("--after", choices=("nothing", "forward", "backward"), default="forward",
                        help="what the process had done in earlier cases: each thread that multiplies has its own cuBLAS workspace")
    args = parser.parse_args()

    sys.path[:0] = [args.basics, args.systems]
    # The checkouts are not installed, and they ask for their own versions.
    importlib.metadata.version = lambda name: "0"
    from cs336_systems import benchmark

    if not args.mixed:
        torch.set_float32_matmul_precision("high")
    one = torch.ones(1, 1, device="cuda", requires_grad=args.after == "backward")
    product = one if args.after == "nothing" else one @ one
    if args.after == "backward":
        product.backward()
    del one, product
    size = benchmark.get_model_config("2.7b")
    os.chdir(tempfile.mkdtemp())
    os.mkdir("memory_files")
    peak = benchmark.run_memory_foward_fullstep(
        **size, context_length=args.context, batch_size=4, vocab_size=10000, theta=10000,
        dtype=torch.bfloat16 if args.mixed else torch.float32, model_size="2.7b",
        mixed_precision=args.mixed, forward_only=args.forward)
    print("peak MiB", peak)


main()

import os

import torch


def main(args):
    if args.debug:
        os.environ["CUDA_LAUNCH_BLOCKING"] = "1"
        torch.autograd.set_detect_anomaly(True)
    torch.autograd.set_detect_anomaly(False)

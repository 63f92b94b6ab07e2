"""The libraries say the versions that PyTorch was built with."""
import torch

assert torch.cuda.is_available()
assert torch.backends.cudnn.is_available()
version = torch.backends.cudnn.version()  # raises when it does not suit the compiled one
compiled = torch._C._cudnn.getCompileVersion()
runtime = torch._C._cudnn.getRuntimeVersion()
assert runtime[0] == compiled[0] and runtime >= compiled, (runtime, compiled)
nccl = torch.cuda.nccl.version()
assert nccl[0] == 2, nccl
print("cudnn", version, "compiled", compiled, "nccl", nccl)

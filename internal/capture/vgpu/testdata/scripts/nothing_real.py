"""No library of NVIDIA's is mapped, although decoys lie where PyTorch looks; the names lead to the virtual GPU."""
import ctypes
import torch

torch.zeros(1, device="cuda")
maps = open("/proc/self/maps").read()
assert "decoy" not in maps, [line for line in maps.splitlines() if "decoy" in line]
assert "libcudart.so" not in maps
cuda = ctypes.CDLL("libcuda.so.1")
count = ctypes.c_int()
assert cuda.cuInit(0) == 0 and cuda.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value == 1
nvml = ctypes.CDLL("libnvidia-ml.so.1")
name, handle = ctypes.create_string_buffer(96), ctypes.c_void_p()
assert nvml.nvmlInit_v2() == 0 and nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(handle)) == 0
assert nvml.nvmlDeviceGetName(handle, name, 96) == 0 and name.value == b"NVIDIA Test 24GB", name.value
properties = torch.cuda.get_device_properties(0)
assert (properties.name, properties.major, properties.minor, properties.multi_processor_count) == ("NVIDIA Test 24GB", 8, 6, 82)
assert properties.total_memory == 24 << 30
assert torch.cuda.get_device_capability() == (8, 6)

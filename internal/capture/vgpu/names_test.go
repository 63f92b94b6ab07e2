package vgpu

import "testing"

func testLibraries(t *testing.T) libraries {
	t.Helper()
	ls, err := readLibraries(libraryTable)
	if err != nil {
		t.Fatal(err)
	}
	return ls
}

func TestBySoname(t *testing.T) {
	ls := testLibraries(t)
	for soname, want := range map[string]string{
		"libcudart.so.13": "cudart", "libcudart.so.11.0": "cudart", "libcudart.3eda8113.so.13": "cudart", "libcudart-d0da41ae.so.11.0": "cudart",
		"libcuda.so.1": "cuda", "libcublasLt.so.12": "cublaslt", "libcublas.so.12": "cublas", "libcudnn.so.9": "cudnn",
		"libcudnn_ops_infer.so.8": "cudnn", "libnccl.so.2": "nccl", "libnvidia-ml.so.1": "nvml", "libnvrtc-builtins.so.13.2": "nvrtc",
		"libcufile.so.0": "cufile", "libnvJitLink.so.12": "nvjitlink", "libnvToolsExt.so.1": "nvtx", "libcusolverMg.so.11": "cusolver",
		"libnvshmem_host.so.3": "nvshmem", "libnvjpeg.4a0b5c81.so.13": "nvjpeg", "libcusparseLt.so.0": "cusparselt",
	} {
		if l, ok := ls.bySoname(soname); !ok || l.name != want {
			t.Errorf("%s belongs to %q, want %q", soname, l.name, want)
		}
	}
	for _, soname := range []string{"libc.so.6", "libtorch_cuda.so", "libc10_cuda.so", "libcudastuff.so.1", "libcuda_ext.so", ""} {
		if l, ok := ls.bySoname(soname); ok {
			t.Errorf("%s belongs to %q, want to none", soname, l.name)
		}
	}
}

func TestBySymbol(t *testing.T) {
	ls := testLibraries(t)
	for symbol, want := range map[string]string{
		"cudaMalloc": "cudart", "__cudaRegisterVar": "cudart", "cuMemCreate": "cuda", "cuFileRead": "cufile", "cublasLtMatmul": "cublaslt",
		"cublasSgemm_v2": "cublas", "cusparseLtInit": "cusparselt", "cusparseSpMM": "cusparse", "ncclSend": "nccl", "pncclSend": "nccl", "nvmlInit_v2": "nvml",
	} {
		if l, ok := ls.bySymbol(symbol); !ok || l.name != want {
			t.Errorf("%s belongs to %q, want %q", symbol, l.name, want)
		}
	}
	for _, symbol := range []string{"malloc", "custom_op", "cufoo", "_ZN2at4cuda6detail", "ncclcomm", ""} {
		if l, ok := ls.bySymbol(symbol); ok {
			t.Errorf("%s belongs to %q, want to none", symbol, l.name)
		}
	}
}

func TestReadLibrariesSaysWhere(t *testing.T) {
	for _, text := range []string{"cudart RUNTIME libcudart", "cudart RUNTIME lib( x", "cudart RUNTIME libcudart ("} {
		if _, err := readLibraries(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

package vgpu

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// A variant is one way to compile the core: what csrc has to know when it is
// compiled. There are few, so that a release can carry them all; the rest is
// said in the environment.
type variant struct {
	cudaMajor  int    // layouts and signatures
	cudnnMajor int    // status codes
	arch       string // GOARCH
}

// variants are all that PyTorch 2 needs, besides the processor.
var variants = []variant{{11, 8, ""}, {11, 9, ""}, {12, 8, ""}, {12, 9, ""}, {13, 9, ""}}

func (v variant) String() string {
	return fmt.Sprintf("cuda%d-cudnn%d-%s", v.cudaMajor, v.cudnnMajor, v.arch)
}

func (v variant) defines() []string {
	return []string{fmt.Sprintf("-DPLIMSOLL_CUDA_MAJOR=%d", v.cudaMajor), fmt.Sprintf("-DPLIMSOLL_CUDNN_MAJOR=%d", v.cudnnMajor)}
}

// cudnnMajor reads the version of cuDNN off the sonames that are asked for.
func cudnnMajor(nodes map[string][]string) int {
	for soname := range nodes {
		if strings.HasPrefix(soname, "libcudnn") && strings.HasSuffix(soname, ".so.8") {
			return 8
		}
	}
	return 9
}

// key names a core by all that goes into it, so that a stale one, in a cache or
// in a release, is never taken for a fresh one.
func (v variant) key(stubs string) (string, error) {
	h := sha256.New()
	_, _ = fmt.Fprintln(h, v, compileFlags, v.defines())
	_, _ = io.WriteString(h, stubs)
	err := fs.WalkDir(sources, "csrc", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := sources.ReadFile(path)
		_, _ = fmt.Fprintln(h, path, len(text))
		_, _ = h.Write(text)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("name the virtual GPU: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)[:12]), nil
}

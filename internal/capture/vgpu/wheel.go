package vgpu

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// A requirement is a package of NVIDIA's that PyTorch's wheel asks for in one
// exact version, and the variable that tells the core of it. The library
// reports the number as its own header encodes it.
type requirement struct {
	stem     string // of the package's name, without the CUDA major
	variable string
	encode   func(major, minor, patch int) int
}

var requirements = []requirement{
	{"nvidia-cublas", "PLIMSOLL_CUBLAS", func(major, minor, patch int) int { return major*10000 + minor*100 + patch }},
	{"nvidia-cudnn", "PLIMSOLL_CUDNN", encodeCuDNN},
	{"nvidia-nccl", "PLIMSOLL_NCCL", func(major, minor, patch int) int { return major*10000 + minor*100 + patch }},
	{"nvidia-cusparselt", "PLIMSOLL_CUSPARSELT", func(major, minor, patch int) int { return major*1000 + minor*100 + patch }},
}

// encodeCuDNN counts the major version in ten thousands since 9, in thousands
// before (CUDNN_VERSION in cudnn_version.h).
func encodeCuDNN(major, minor, patch int) int {
	if major >= 9 {
		return major*10000 + minor*100 + patch
	}
	return major*1000 + minor*100 + patch
}

// "Requires-Dist: nvidia-cudnn-cu13==9.26.0.51; platform_system ..." and, in
// older wheels, "nvidia-cudnn-cu11 (==8.5.0.96) ; ...".
var requiresDist = regexp.MustCompile(`^Requires-Dist: ([A-Za-z0-9-]+?)(?:-cu\d+)? ?\(?==(\d+)\.(\d+)(?:\.(\d+))?`)

// libraryVersions reads which versions of NVIDIA's libraries PyTorch's own wheel
// requires, as variables for the core. A PyTorch that came otherwise has none,
// and the core then goes by the version of CUDA.
func libraryVersions(t Torch) []string {
	matches, err := filepath.Glob(filepath.Join(filepath.Dir(t.Dir), "torch-*.dist-info", "METADATA"))
	if err != nil || len(matches) != 1 {
		return nil
	}
	metadata, err := os.ReadFile(matches[0])
	if err != nil {
		return nil
	}
	return requiredVersions(metadata)
}

func requiredVersions(metadata []byte) []string {
	var env []string
	for lines := bufio.NewScanner(bytes.NewReader(metadata)); lines.Scan() && len(lines.Bytes()) > 0; {
		m := requiresDist.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		for _, r := range requirements {
			if strings.EqualFold(m[1], r.stem) {
				env = append(env, fmt.Sprintf("%s=%d", r.variable, r.encode(number(m[2]), number(m[3]), number(m[4]))))
			}
		}
	}
	return env
}

// number reads digits; absent or absurd ones are 0.
func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil || n > 99 {
		return 0
	}
	return n
}

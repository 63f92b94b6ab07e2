package nvml

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAsleep(t *testing.T) {
	const (
		awake  = "Model: \t\t NVIDIA GeForce RTX 3090\nIRQ:   \t\t 129\nGPU UUID: \t GPU-7ea3d4f5-bc32-4e32-bb5b-6d6f1b6a1d5c\nVideo BIOS: \t 94.02.4b.00.0b\n"
		asleep = "Model: \t\t NVIDIA GeForce RTX 3090\nIRQ:   \t\t 129\nGPU UUID: \t GPU-????????-????-????-????-????????????\nVideo BIOS: \t ??.??.??.??.??\n"
	)
	for name, c := range map[string]struct {
		gpus []string
		want bool
	}{
		"no driver":        {nil, false},
		"all are awake":    {[]string{awake, awake}, false},
		"one is asleep":    {[]string{awake, asleep}, true},
		"a file of nobody": {[]string{""}, false},
	} {
		root := t.TempDir()
		for i, text := range c.gpus {
			file := filepath.Join(root, "proc/driver/nvidia/gpus", "0000:0"+string(rune('1'+i))+":00.0", "information")
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := Asleep(root); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

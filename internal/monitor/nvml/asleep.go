package nvml

import (
	"bytes"
	"os"
	"path/filepath"
)

// Asleep reports whether NVIDIA's driver must initialise a GPU before it answers,
// which takes some seconds: without persistence mode it lets go of a GPU that nobody
// uses. Its kernel module then writes question marks for the version of the GPU's BIOS
// ("some of the information is only available when the GPUs have been initialized",
// README of the driver, chapter on /proc). Root is where /proc is mounted, "/" here.
func Asleep(root string) bool {
	files, _ := filepath.Glob(filepath.Join(root, "proc/driver/nvidia/gpus/*/information"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err == nil && bytes.Contains(text, []byte("??.??.??")) {
			return true
		}
	}
	return false
}

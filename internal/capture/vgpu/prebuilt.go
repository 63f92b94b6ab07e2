package vgpu

// Prebuilt says whether this program carries a virtual GPU that needs no
// compiler.
func Prebuilt() bool { return prebuilt != nil }

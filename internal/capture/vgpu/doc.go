// Package vgpu builds and configures the virtual GPU: shared libraries that
// stand in for NVIDIA's below the user's own PyTorch, keep the books of device
// memory and compute nothing.
//
// A library built here serves one build of PyTorch: the names that it must
// answer are read from that PyTorch's own files and those of its companions, so
// a version that nobody here has seen works, or a call is refused by name. What
// succeeds although it does nothing is a reviewed row of the manifest, never a
// default.
//
// The package runs the user's interpreter only to ask where PyTorch is, and a C
// compiler. It knows nothing about scripts, tapes or reports.
package vgpu

//go:build !prebuilt

package vgpu

import "io/fs"

// prebuilt is the virtual GPU that a release carries; this build carries none.
var prebuilt fs.FS

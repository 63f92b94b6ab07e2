//go:build !prebuilt

package overlay

import "io/fs"

// prebuilt is the library that a release carries; this build carries none.
var prebuilt fs.FS

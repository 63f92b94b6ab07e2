//go:build prebuilt

package vgpu

import (
	"embed"
	"io/fs"
)

//go:embed prebuilt/*.so.gz
var prebuiltFiles embed.FS

// prebuilt is the virtual GPU that this release carries.
var prebuilt fs.FS = prebuiltFiles

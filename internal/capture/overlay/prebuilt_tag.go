//go:build prebuilt

package overlay

import (
	"embed"
	"io/fs"
)

//go:embed prebuilt/*.so.gz
var prebuiltFiles embed.FS

// prebuilt is the library that this release carries.
var prebuilt fs.FS = prebuiltFiles

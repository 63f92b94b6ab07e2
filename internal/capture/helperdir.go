package capture

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
)

//go:embed all:helper/py
var helperFiles embed.FS

// installHelper writes the helper into the run folder.
func installHelper(f *folder) error {
	files, err := fs.Sub(helperFiles, "helper/py")
	if err != nil {
		return err
	}
	if err := os.RemoveAll(f.helper()); err != nil {
		return fmt.Errorf("write the helper: %w", err)
	}
	if err := os.CopyFS(f.helper(), files); err != nil {
		return fmt.Errorf("write the helper: %w", err)
	}
	return nil
}

// Package helper holds the Python that runs inside a captured script, and
// writes it where Python finds it.
//
// The Python records PyTorch's own allocation history and writes, for each
// process that used CUDA, the files whose names stand below. It starts through
// sitecustomize: the folder that Write filled must come first in PYTHONPATH,
// so nothing is imported in the script, and `python -I` or `-S` keeps it out.
//
// This package neither runs Python nor reads what the helper writes.
package helper

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

//go:embed py/sitecustomize.py py/_plimsoll/*.py
var files embed.FS

// Variable is the environment variable that names the settings file. Without
// it the helper does nothing.
const Variable = "PLIMSOLL_CAPTURE"

// The files of one process, in a folder of its own named p and its process
// id. Result is written last: a folder without it is of a process that was
// killed.
const (
	Snapshot = "snapshot.pickle" // torch.cuda.memory._dump_snapshot
	Marks    = "marks.tsv"
	Labels   = "labels.tsv"
	Result   = "result.json"
)

// Settings is what a capture asks of the helper.
type Settings struct {
	Out         string  `json:"out"`          // absolute folder for the results
	Steps       int     `json:"steps"`        // optimizer steps to record
	Timeout     float64 `json:"timeout_s"`    // seconds from the start of the process, 0 for none
	Zeros       bool    `json:"zeros"`        // let every value that a kernel makes read as zero, small ones too
	KeepInit    bool    `json:"keep_init"`    // fill large CPU tensors of models being built
	AllowWrites bool    `json:"allow_writes"` // let the script save, push and track for real
	World       int     `json:"world"`        // ranks that the process is one of, 0 for the script's own processes
	Rank        int     `json:"rank"`         // which of them
	MaxEntries  int     `json:"max_entries"`  // events that the history holds, 0 for the helper's default
	ScriptDir   string  `json:"script_dir"`   // folder of the script, "" unknown
	Operators   bool    `json:"operators"`    // record the frames of PyTorch itself beside Python's
}

// Write puts the Python into dir, which must exist.
func Write(dir string) error {
	sub, err := fs.Sub(files, "py")
	if err != nil {
		return fmt.Errorf("open the embedded helper: %w", err)
	}
	if err := os.CopyFS(dir, sub); err != nil {
		return fmt.Errorf("write the helper: %w", err)
	}
	return nil
}

// WriteSettings writes s to a file for Variable to name.
func WriteSettings(path string, s Settings) error {
	text, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encode the helper's settings: %w", err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return fmt.Errorf("write the helper's settings: %w", err)
	}
	return nil
}

// Folder is where a process of that id leaves its files.
func Folder(out string, pid int) string {
	return filepath.Join(out, fmt.Sprintf("p%d", pid))
}

package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// boxes makes a folder of n label files as YOLO's tools read them: a class,
// and a box as parts of the picture.
func boxes(n int) func(string) error {
	return func(dir string) error {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		r := source()
		for i := range n {
			var text string
			for range 1 + r.IntN(5) {
				text += fmt.Sprintf("%d %.3f %.3f %.3f %.3f\n", r.IntN(4), 0.3+0.4*r.Float64(), 0.3+0.4*r.Float64(), 0.1+0.4*r.Float64(), 0.1+0.4*r.Float64())
			}
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d.txt", i)), []byte(text), 0o644); err != nil {
				return err
			}
		}
		return nil
	}
}

//go:build !linux

package child

import "context"

// Run refuses.
func Run(context.Context, Spec) (Exit, error) { return Exit{}, ErrUnsupported }

// Supervise refuses.
func Supervise() int { return 2 }

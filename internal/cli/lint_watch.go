package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/lint/workspace"
)

// watchInterval is how often --watch looks whether a file changed.
const watchInterval = 500 * time.Millisecond

// watch lints, and again after each change, until it is interrupted. Only what
// may have changed is linted again.
func (l *linter) watch(ctx context.Context) error {
	w, last := (*workspace.Workspace)(nil), ""
	for {
		next, err := l.open()
		if err != nil {
			return err
		}
		if stamp := stampOf(next.Tree); w == nil || stamp != last {
			last = stamp
			if w == nil {
				w = next
			}
			w.Tree = next.Tree
			if err := l.round(ctx, w); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(watchInterval):
		}
	}
}

// round lints once for watch: that there are findings ends nothing.
func (l *linter) round(ctx context.Context, w *workspace.Workspace) error {
	results, err := w.Check(ctx, nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(l.stdio.Out, "\n%s  ", l.stdio.Now().Format("15:04:05"))
	if err := l.say(l.answer(ctx, w, results, nil)); err != nil && !errors.Is(err, ErrNo) && !errors.Is(err, ErrGaps) {
		fmt.Fprintln(l.stdio.Out, err) // a file that cannot be read may be mended
	}
	return nil
}

// stampOf tells a tree from what it was before, by sizes and times.
func stampOf(t *workspace.Tree) string {
	var b strings.Builder
	for _, f := range t.Files {
		b.WriteString(f.Name)
		if info, err := os.Stat(filepath.FromSlash(f.Path)); err == nil {
			fmt.Fprintf(&b, " %d %d", info.Size(), info.ModTime().UnixNano())
		}
		b.WriteByte('\n')
	}
	return b.String()
}

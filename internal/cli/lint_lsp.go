package cli

import "context"

func (l *linter) serve(context.Context) error { return nil }

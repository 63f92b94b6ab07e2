package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/muesli/cancelreader"
)

// A keyboard reads what the user types and clicks. It is ours and not bubbletea's,
// whose program can only stop to render where it has none: see Run.
type keyboard struct {
	in   cancelreader.CancelReader
	done chan struct{}
}

// newKeyboard begins to read, and to send what it reads.
func newKeyboard(ctx context.Context, t Terminal, send func(tea.Msg)) (*keyboard, error) {
	in, err := uv.NewCancelReader(t.In)
	if err != nil {
		return nil, fmt.Errorf("read the keyboard: %w", err)
	}
	name := ""
	if i := slices.IndexFunc(t.Environ, func(v string) bool { return strings.HasPrefix(v, "TERM=") }); i >= 0 {
		name = strings.TrimPrefix(t.Environ[i], "TERM=")
	}
	k := &keyboard{in: in, done: make(chan struct{})}
	events := make(chan uv.Event)
	go func() {
		defer close(events)
		uv.NewTerminalReader(in, name).StreamEvents(ctx, events) //nolint:errcheck // without a keyboard the screen goes on
	}()
	go func() {
		defer close(k.done)
		for e := range events {
			send(e)
		}
	}()
	return k, nil
}

// close ends the reading, where that can be ended.
func (k *keyboard) close() {
	if k.in.Cancel() {
		<-k.done
	}
	k.in.Close() //nolint:errcheck // it was only read
}

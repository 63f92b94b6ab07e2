package monitor

import "context"

// A Question is asked of what may hang: a driver, a file of the kernel. The zero
// Question has not been asked.
type Question[T any] struct{ pending chan T }

// Ask asks f and returns its answer, or false when ctx ends before. Then f goes on
// by itself; while it does, no other is asked, and Ask does not wait: who has made
// one caller wait makes no other wait.
func (q *Question[T]) Ask(ctx context.Context, f func() T) (T, bool) {
	if q.pending != nil {
		select {
		case a := <-q.pending:
			q.pending = nil
			return a, true
		default:
			var none T
			return none, false
		}
	}
	pending := make(chan T, 1)
	go func() { pending <- f() }()
	select {
	case a := <-pending:
		return a, true
	case <-ctx.Done():
		q.pending = pending
		var none T
		return none, false
	}
}

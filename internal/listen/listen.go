// Package listen answers HTTP until a context ends, with bounds on what a client
// may cost. Who may reach it, and what is answered, is its users' business.
package listen

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// Serve answers on l with h until ctx ends, and closes l.
func Serve(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
	}
	done := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-ctx.Done():
		case <-stopped:
		}
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if server.Shutdown(late) != nil {
			_ = server.Close() // what is still open is given up
		}
	}()
	err := server.Serve(l)
	close(stopped)
	<-done
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

package hub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/plimsoll-dev/plimsoll/internal/format/safetensors"
)

// Bounds of what is asked of the hub for the comparison with a config.
const (
	firstRead   = 64 << 10 // holds most headers
	maxFiles    = 48       // of one model; more are not looked at
	maxParallel = 4
)

// checkpoint reads the headers of a model's weights. errNoFile says that the
// repository has none in this format.
func (h *remote) checkpoint(ctx context.Context, i id) (*safetensors.Checkpoint, error) {
	single, err := h.header(ctx, i, safetensors.SingleFile)
	if err == nil {
		return safetensors.Join(map[string]*safetensors.Header{safetensors.SingleFile: single}, nil)
	}
	if !errors.Is(err, errNoFile) {
		return nil, err
	}
	data, err := h.get(ctx, i, safetensors.IndexFile, safetensors.MaxIndexBytes)
	if err != nil {
		return nil, err
	}
	index, err := safetensors.ParseIndex(safetensors.IndexFile, data)
	if err != nil {
		return nil, err
	}
	if len(index.Files) > maxFiles {
		return nil, fmt.Errorf("they are in %d files, at most %d are looked at", len(index.Files), maxFiles)
	}
	headers, err := h.headers(ctx, i, index.Files)
	if err != nil {
		return nil, err
	}
	return safetensors.Join(headers, index)
}

// headers reads several files' headers, a few at a time.
func (h *remote) headers(ctx context.Context, i id, files []string) (map[string]*safetensors.Header, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		wait  sync.WaitGroup
		mu    sync.Mutex
		first error
		found = map[string]*safetensors.Header{}
		slots = make(chan struct{}, maxParallel)
	)
	for _, f := range files {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			header, err := h.header(ctx, i, f)
			if errors.Is(err, errNoFile) {
				err = fmt.Errorf("%w: the index names %s", safetensors.ErrAbsent, f)
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil && first == nil {
				first = err
				cancel() // the others are of no use without this one
			}
			found[f] = header
		})
	}
	wait.Wait()
	return found, first
}

// header reads the header of one file.
func (h *remote) header(ctx context.Context, i id, file string) (*safetensors.Header, error) {
	begin, size, err := h.span(ctx, i, file, 0, firstRead)
	if err != nil {
		return nil, err
	}
	n, err := safetensors.HeaderLength(file, begin)
	if err != nil {
		return nil, err
	}
	end := safetensors.LengthBytes + n
	for int64(len(begin)) < end {
		more, _, err := h.span(ctx, i, file, int64(len(begin)), end)
		if err != nil {
			return nil, err
		}
		if len(more) == 0 {
			return nil, fmt.Errorf("%s ends inside its header", file)
		}
		begin = append(begin, more...)
	}
	data := int64(-1)
	if size >= 0 {
		data = max(size-end, 0)
	}
	return safetensors.Parse(file, begin[safetensors.LengthBytes:end], data)
}

// span reads bytes from up to end of a file, fewer when it is shorter, and
// the file's size, or -1. A server that knows no ranges is cut short.
func (h *remote) span(ctx context.Context, i id, file string, from, end int64) ([]byte, int64, error) {
	ctx, cancel := context.WithTimeout(ctx, h.timeout)
	defer cancel()
	resp, err := h.ask(ctx, i, file, fmt.Sprintf("bytes=%d-%d", from, end-1))
	if err != nil {
		return nil, -1, err
	}
	defer resp.Body.Close() //nolint:errcheck // a body that was only read
	var size int64
	switch resp.StatusCode {
	case http.StatusPartialContent:
		var start int64
		if start, size = contentRange(resp.Header.Get("Content-Range")); start != from {
			return nil, -1, fmt.Errorf("the hub answers with another part of %s than was asked for", file)
		}
	case http.StatusOK:
		size = resp.ContentLength
		if _, err := io.CopyN(io.Discard, resp.Body, from); err != nil {
			return nil, -1, h.broken(ctx, err, file, 0)
		}
	default:
		return nil, -1, h.refusal(resp, i, file)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, end-from))
	if err != nil {
		return nil, -1, h.broken(ctx, err, file, len(data))
	}
	return data, size, nil
}

// contentRange reads "bytes 0-99/1234": where it starts and the size of the
// whole, -1 for what it does not say.
func contentRange(s string) (start, size int64) {
	s, ok := strings.CutPrefix(s, "bytes ")
	part, whole, cut := strings.Cut(s, "/")
	first, _, dash := strings.Cut(part, "-")
	start, err := strconv.ParseInt(first, 10, 64)
	if !ok || !cut || !dash || err != nil {
		return -1, -1
	}
	if size, err = strconv.ParseInt(whole, 10, 64); err != nil || size < 0 {
		size = -1
	}
	return start, size
}

package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
)

// A message is one of JSON-RPC 2.0, as the language server protocol sends it.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"` // of a request and its answer
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// maxMessage bounds a message, maxHeader its header lines.
const (
	maxMessage = 64 << 20
	maxHeader  = 4 << 10
)

// A wire carries messages over two streams.
type wire struct {
	in  *bufio.Reader
	mu  sync.Mutex
	out io.Writer
}

func newWire(in io.Reader, out io.Writer) *wire {
	return &wire{in: bufio.NewReaderSize(in, maxHeader), out: out}
}

// readAll hands on messages until the stream ends.
func (w *wire) readAll(ctx context.Context, messages chan<- *message, failed chan<- error) {
	for {
		m, err := w.read()
		if err != nil {
			failed <- err
			return
		}
		select {
		case messages <- m:
		case <-ctx.Done():
			return
		}
	}
}

// read reads one message. What is no JSON is answered and passed over.
func (w *wire) read() (*message, error) {
	for {
		length, err := w.header()
		if err != nil {
			return nil, err
		}
		raw, err := io.ReadAll(io.LimitReader(w.in, int64(length)))
		if err == nil && len(raw) < length {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
		var m message
		if json.Unmarshal(raw, &m) == nil {
			return &m, nil
		}
		if err := w.refuse(json.RawMessage("null"), -32700, "the message is no JSON-RPC"); err != nil {
			return nil, err
		}
	}
}

// header reads the lines before a message, for its length.
func (w *wire) header() (length int, err error) {
	length = -1
	for {
		line, err := w.in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return 0, errors.New("a header line is too long")
		}
		if err != nil {
			return 0, err
		}
		name, value, ok := strings.Cut(strings.TrimSpace(string(line)), ":")
		switch {
		case !ok && name != "":
			return 0, fmt.Errorf("%q is no header", name)
		case !ok && length < 0:
			return 0, errors.New("a message without Content-Length")
		case !ok:
			return length, nil
		case strings.EqualFold(name, "Content-Length"):
			value = strings.TrimSpace(value)
			if length, err = strconv.Atoi(value); err != nil || length < 0 || length > maxMessage {
				return 0, fmt.Errorf("a message of %q bytes", value)
			}
		}
	}
}

func (w *wire) answer(id json.RawMessage, result any) error {
	raw, err := json.Marshal(result)
	if err != nil {
		return err
	}
	return w.send(message{ID: id, Result: raw})
}

func (w *wire) refuse(id json.RawMessage, code int, text string) error {
	return w.send(message{ID: id, Error: &rpcError{code, text}})
}

func (w *wire) notify(method string, params any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	return w.send(message{Method: method, Params: raw})
}

func (w *wire) send(m message) error {
	m.Version = "2.0"
	raw, err := json.Marshal(m)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err = fmt.Fprintf(w.out, "Content-Length: %d\r\n\r\n%s", len(raw), raw)
	return err
}

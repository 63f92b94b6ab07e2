package remote

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

//go:embed script.sh
var script string

// mostAnswer is the most that one answer may be: ten thousand processes are 5 MB.
const mostAnswer = 32 << 20

// errTooLong says that an answer is no answer of the script.
var errTooLong = fmt.Errorf("the answer is longer than %d bytes", mostAnswer)

// command is the ssh that connects to a host: it asks for nothing, ends when the
// network does, and is nobody else's connection.
func command(host string) []string {
	return []string{
		"ssh", "-T", "-x", "-o", "BatchMode=yes", "-o", "ConnectTimeout=5", "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=2",
		"-o", "ControlMaster=no", "-o", "ControlPath=none", "-o", "ForwardAgent=no", "--", host, "sh",
	}
}

// A connection is a shell at the other end.
type connection struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	mark string
	errs *lastLine
}

// connect starts a shell, which ctx ends. It returns before the other end has
// answered.
func connect(ctx context.Context, words []string) (*connection, error) {
	secret := make([]byte, 16)
	if _, err := rand.Read(secret); err != nil {
		return nil, err
	}
	c := &connection{mark: fmt.Sprintf("=plimsoll-%x=", secret), errs: &lastLine{}}
	c.cmd = exec.CommandContext(ctx, words[0], words[1:]...)
	c.cmd.Stderr = c.errs
	c.cmd.WaitDelay = time.Second
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.out = bufio.NewReaderSize(out, 64<<10)
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	// The script is handed over as the word of an eval, so that what follows is read
	// by it and by nobody else.
	_, err = fmt.Fprintf(c.in, "mark='%s'; eval '%s'\n", c.mark, strings.ReplaceAll(script, "'", `'\''`))
	if err != nil {
		c.close()
		return nil, c.explain(err)
	}
	return c, nil
}

// ask sends a command and returns what the script answers, and its status.
func (c *connection) ask(line string) ([]byte, int, error) {
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		return nil, 0, c.explain(err)
	}
	return c.answer()
}

// answer reads up to the next mark. The script gives one when it begins: a shell may
// read ahead before, and would take a command for a line of its own.
func (c *connection) answer() ([]byte, int, error) {
	var text []byte
	for {
		part, err := c.out.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, 0, c.explain(err)
		}
		if rest, ok := bytes.CutPrefix(part, []byte(c.mark+" ")); ok {
			status, err := strconv.Atoi(strings.TrimSpace(string(rest)))
			return bytes.TrimSuffix(text, []byte("\n")), status, err
		}
		if len(text)+len(part) > mostAnswer {
			return nil, 0, errTooLong
		}
		text = append(text, part...)
	}
}

// explain is what ssh said when the connection ended, which says more than that it
// did.
func (c *connection) explain(err error) error {
	c.close()
	if said := c.errs.String(); said != "" {
		return errors.New(said)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, unix.EPIPE) || errors.Is(err, fs.ErrClosed) {
		return errors.New("the connection ended")
	}
	return err
}

// close ends the connection.
func (c *connection) close() {
	c.in.Close()             //nolint:errcheck // it ends either way
	_ = c.cmd.Process.Kill() // it may wait for a network that is gone
	_ = c.cmd.Wait()
}

// A lastLine keeps the last line that was written to it.
type lastLine struct {
	mu   sync.Mutex
	text []byte
}

func (l *lastLine) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, p...)
	if n := len(l.text); n > 4096 {
		l.text = append([]byte{}, l.text[n-4096:]...)
	}
	return len(p), nil
}

func (l *lastLine) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(l.text), "\uFFFD")), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

package pickle

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/internal/input"
)

// Run reads the pickle and returns its outermost value. With an error the
// consumer has received what came before; input.ErrTruncated, wrapped, means
// that the file just ends.
func (m *Machine) Run() (Value, error) {
	if err := m.begin(); err != nil {
		return 0, err
	}
	plan, err := scan(m.in)
	if err != nil {
		return 0, err
	}
	m.in.Rewind()
	m.plan, m.memo = plan, make([]Value, plan.count)
	return m.run()
}

// ErrAgain says that a pickle needs both passes of Run.
var ErrAgain = errors.New("the pickle must be read twice")

// RunOnce is Run without the first pass: it keeps whatever is memoised, but
// for dicts of lists that are brief. It gives up with ErrAgain where that is
// too much, where such a dict comes again, and at all that is wrong with a
// file but its early end; Run of another machine then knows.
func (m *Machine) RunOnce() (Value, error) {
	if err := m.begin(); err != nil {
		return 0, err
	}
	m.once, m.most = true, leastKept+int(m.in.Size()/bytesKept)
	root, err := m.run()
	if err != nil && !errors.Is(err, input.ErrTruncated) {
		return 0, fmt.Errorf("%w: %w", ErrAgain, err)
	}
	return root, err
}

// RunOnce keeps at most so many slots of 8 bytes: an eighth of a large file.
const (
	leastKept = 1 << 16
	bytesKept = 64
)

func (m *Machine) run() (Value, error) {
	for {
		w, err := m.in.Window(16)
		if err != nil {
			return 0, err
		}
		n, err := m.burst(w, m.in.Offset())
		if err != nil {
			return 0, err
		}
		m.in.Advance(n)
		op, err := m.step()
		if err != nil {
			return 0, err
		}
		if op == opStop {
			root, err := m.pop(1)
			if err != nil {
				return 0, err
			}
			return root[0], nil
		}
	}
}

// begin checks the beginning of the file.
func (m *Machine) begin() error {
	w, err := m.in.Window(2)
	if err != nil {
		return err
	}
	if len(w) == 0 {
		return m.in.Truncated()
	}
	if w[0] != opProto {
		return m.in.Errorf(0, "no pickle of protocol 2 to 5: the first byte is 0x%02x, not 0x80", w[0])
	}
	return nil
}

// burst runs the opcodes that make up nearly all of a snapshot and returns
// how many bytes of the window they took. It leaves every other opcode, and
// the last bytes of the window, to step.
func (m *Machine) burst(w []byte, base int64) (int, error) {
	pos := 0
	for pos+8 <= len(w) {
		op := w[pos]
		m.op, m.at = op, base+int64(pos)
		var err error
		next := pos + 1
		switch op {
		case opBinGet:
			err = m.recall(uint64(w[next]))
			next++
		case opLongBinGet:
			err = m.recall(uint64(binary.LittleEndian.Uint32(w[next:])))
			next += 4
		case opMemoize:
			if slot := m.slots.next(); m.once || m.plan.dense(slot) >= 0 {
				err = m.remember(slot)
			}
		case opMark:
			if err = m.mark(nil); err == nil && m.beginsDict() {
				next = m.fields(w, next)
			}
		case opBinInt1:
			err = m.push(smallInt(int64(w[next])))
			next++
		case opBinInt2:
			err = m.push(smallInt(int64(binary.LittleEndian.Uint16(w[next:]))))
			next += 2
		case opBinInt:
			err = m.push(smallInt(int64(int32(binary.LittleEndian.Uint32(w[next:])))))
			next += 4
		case opLong1:
			if next += 1 + int(w[next]); next > len(w) {
				return pos, nil
			}
			err = m.long(w[pos+2 : next])
		case opEmptyDict:
			err = m.emptyDict(nil)
		case opSetItems:
			err = m.setItems(nil)
		default:
			return pos, nil
		}
		if err != nil {
			return pos, err
		}
		pos = next
	}
	return pos, nil
}

// step runs one opcode, whatever it is, and returns it.
func (m *Machine) step() (byte, error) {
	w, err := m.in.Window(9)
	if err != nil {
		return 0, err
	}
	if len(w) == 0 {
		return 0, m.in.Truncated()
	}
	m.op, m.at = w[0], m.in.Offset()
	op := &opcodes[m.op]
	if op.shape == unknown || op.shape == refused {
		return 0, m.refusal(w)
	}
	n := 1 + width[op.shape]
	if len(w) < n {
		return 0, m.in.Truncated()
	}
	m.in.Advance(n)
	arg := w[1:n]
	if op.shape >= short {
		if arg, err = m.in.Next(int64(little(arg))); err != nil {
			return 0, err
		}
	}
	return m.op, runs[m.op](m, arg)
}

// refusal is the error for an opcode that is not run.
func (m *Machine) refusal(w []byte) error {
	op := &opcodes[m.op]
	if op.shape == unknown {
		return m.errorf("0x%02x is no pickle opcode", m.op)
	}
	what := ""
	switch {
	case m.op == opGlobal:
		if f := bytes.SplitN(w[1:min(len(w), 200)], []byte("\n"), 3); len(f) == 3 {
			what = fmt.Sprintf(" of %q", string(f[0])+"."+string(f[1]))
		}
	case m.op == opStackName && len(m.stack) >= 2:
		module, _ := m.Text(m.stack[len(m.stack)-2])
		name, _ := m.Text(m.stack[len(m.stack)-1])
		what = fmt.Sprintf(" of %.200q", module+"."+name)
	}
	return m.errorf("opcode %s%s is refused: %s", op.name, what, op.reason)
}

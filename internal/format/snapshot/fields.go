package snapshot

import (
	"github.com/plimsoll-dev/plimsoll/internal/pickle"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// The functions below take one dict each. Keys that they do not know are
// skipped: newer versions of PyTorch add some.

// bad is the error for a value that its key does not allow.
func (c *consumer) bad(what string, key uint32) error {
	return c.in.Errorf(c.m.Offset(), "%s: %q is missing or of the wrong type", what, keys[key])
}

func (c *consumer) takeEvent(t *trace, device int, pairs []pickle.Value) error {
	if device >= maxDevices {
		return c.in.Errorf(c.m.Offset(), "more than %d devices have events", maxDevices)
	}
	e := event{kind: tape.Other}
	var action string
	var compile, metadata pickle.Value
	hasAddr, hasSize := false, false
	for i := 0; i < len(pairs); i += 2 {
		key, ok := pairs[i].StringNumber()
		if !ok {
			continue
		}
		v := pairs[i+1]
		switch key {
		case keyAction:
			action, ok = c.m.Text(v)
			e.kind = c.kind(v)
		case keyCompileContext:
			compile = v
		case keyUserMetadata:
			metadata = v
		default:
			hasAddr = hasAddr || key == keyAddr
			hasSize = hasSize || key == keySize
			ok = c.eventNumber(&e, key, v)
		}
		if !ok {
			return c.bad("event", key)
		}
	}
	switch {
	case action == "":
		return c.bad("event", keyAction)
	case e.kind.HasBlock() && !hasAddr:
		return c.bad("event "+action, keyAddr)
	case e.kind.HasBlock() && !hasSize:
		return c.bad("event "+action, keySize)
	}
	c.context(t, compile, metadata)
	return c.addEvent(t, action, e, c.m.Offset())
}

// kind is the kind of event that an action names.
func (c *consumer) kind(action pickle.Value) tape.Kind {
	if n, ok := action.StringNumber(); ok && int(n) < len(c.kinds) {
		return c.kinds[n]
	}
	return tape.Other
}

// eventNumber takes one field of an event that is a number or stands for
// one. It reports false for a value of the wrong type.
func (c *consumer) eventNumber(e *event, key uint32, v pickle.Value) (ok bool) {
	switch key {
	case keyAddr, keyDeviceFree:
		e.addr, ok = c.m.Uint64(v)
	case keySize:
		e.size, ok = c.m.Uint64(v)
	case keyStream:
		e.stream, ok = c.m.Uint64(v)
	case keyTime:
		e.time, ok = c.m.Int64(v)
	case keyFrames:
		e.stack, ok = c.takeStack(v)
	case keyEventPool:
		e.pool, ok = c.pool(v)
	default:
		return true
	}
	return ok
}

// context notes the compile context and the metadata of the next event if
// they differ from those of the last.
func (c *consumer) context(t *trace, compile, metadata pickle.Value) {
	if compile == 0 && metadata == 0 && len(t.contexts) == 0 {
		return
	}
	compileText, _ := c.m.Text(compile)
	metadataText, _ := c.m.Text(metadata)
	t.context(compileText, metadataText)
}

func (c *consumer) pool(v pickle.Value) (id [2]uint64, ok bool) {
	items := c.m.Items(v)
	if len(items) != 2 {
		return id, false
	}
	first, ok1 := c.m.Uint64(items[0])
	second, ok2 := c.m.Uint64(items[1])
	return [2]uint64{first, second}, ok1 && ok2
}

func (c *consumer) takeSegment(pairs []pickle.Value) error {
	var s segment
	ok, found := true, 0
	for i := 0; i < len(pairs); i += 2 {
		key, isText := pairs[i].StringNumber()
		if !isText {
			continue
		}
		v := pairs[i+1]
		switch key {
		case keyDevice:
			var d uint64
			d, ok = c.m.Uint64(v)
			ok = ok && d < maxDevices
			s.device = uint8(d)
		case keyAddress:
			s.addr, ok = c.m.Uint64(v)
			found++
		case keyTotalSize:
			s.size, ok = c.m.Uint64(v)
			ok = ok && s.size <= maxSize
			found++
		case keyStream:
			s.stream, ok = c.m.Uint64(v)
		case keySegmentType:
			var kind string
			kind, ok = c.m.Text(v)
			s.small = kind == "small"
		case keyPoolID:
			s.pool, ok = c.pool(v)
		case keyExpandable:
			s.expandable = v.Bool()
		case keyFrames:
			s.stack, ok = c.takeStack(v)
		case keyBlocks:
			s.blocks, ok = c.segmentBlocks(v)
			found++
		}
		if !ok {
			return c.bad("segment", key)
		}
	}
	if found < 3 {
		return c.in.Errorf(c.m.Offset(), `segment without "address", "total_size" or "blocks"`)
	}
	err := c.addSegment(s, c.m.Offset())
	c.blocks = c.blocks[:0]
	return err
}

// segmentBlocks are the blocks that were read since the list began.
func (c *consumer) segmentBlocks(list pickle.Value) ([]block, bool) {
	r, n := roleOf(c.m.Note(list))
	if r != blockList || n > len(c.blocks) {
		return nil, false
	}
	return c.blocks[n:], true
}

func (c *consumer) takeBlock(pairs []pickle.Value) error {
	var b block
	ok, found := true, 0
	for i := 0; i < len(pairs); i += 2 {
		key, isText := pairs[i].StringNumber()
		if !isText {
			continue
		}
		v := pairs[i+1]
		switch key {
		case keyAddress:
			b.addr, ok = c.m.Uint64(v)
		case keySize:
			b.size, ok = c.m.Uint64(v)
			ok = ok && b.size <= maxSize
			found++
		case keyRequestedSize:
			b.requested, ok = c.m.Uint64(v)
			ok = ok && b.requested <= maxSize
		case keyState:
			var name string
			if name, ok = c.m.Text(v); ok {
				b.state, ok = states[name]
			}
			found++
		case keyFrames:
			b.stack, ok = c.takeStack(v)
		case keyHistory:
			ok = c.blockHistory(v, &b)
		}
		if !ok {
			return c.bad("block", key)
		}
	}
	if found < 2 {
		return c.in.Errorf(c.m.Offset(), `block without "size" or "state"`)
	}
	c.blocks = append(c.blocks, b)
	return nil
}

// blockHistory takes the newest entry of a block's history, which is the
// request that it serves.
func (c *consumer) blockHistory(list pickle.Value, b *block) bool {
	r, n := roleOf(c.m.Note(list))
	if r != historyList || n > len(c.past) {
		return false
	}
	if n < len(c.past) {
		b.stack = c.past[n].stack
		if b.requested == 0 {
			b.requested = c.past[n].requested
		}
	}
	c.past = c.past[:n]
	return true
}

func (c *consumer) takePast(pairs []pickle.Value) error {
	var b block
	ok := true
	for i := 0; i < len(pairs) && ok; i += 2 {
		switch key, isText := pairs[i].StringNumber(); {
		case !isText:
		case key == keyRealSize:
			b.requested, ok = c.m.Uint64(pairs[i+1])
			ok = ok && b.requested <= maxSize
		case key == keyFrames:
			b.stack, ok = c.takeStack(pairs[i+1])
		}
	}
	if !ok {
		return c.bad("history", keyRealSize)
	}
	c.past = append(c.past, b)
	return nil
}

func (c *consumer) takeAnnotation(pairs []pickle.Value) {
	a := Annotation{Device: -1}
	for i := 0; i < len(pairs); i += 2 {
		key, isText := pairs[i].StringNumber()
		v := pairs[i+1]
		switch {
		case !isText:
		case key == keyName:
			a.Name, _ = c.m.Text(v)
		case key == keyStage:
			stage, _ := c.m.Text(v)
			a.Begin = stage == "START"
		case key == keyDevice:
			if d, ok := c.m.Int64(v); ok && d >= 0 && d < maxDevices {
				a.Device = int(d)
			}
		case key == keyTime:
			a.Time, _ = c.m.Int64(v)
		}
	}
	c.annotations = append(c.annotations, a)
}

// settingsBudget bounds how many values of the settings are taken over: a
// pickle can make one value stand in many places.
const settingsBudget = 10_000

// takeSettings turns the allocator's settings into plain values.
func (c *consumer) takeSettings(dict pickle.Value, pairs []pickle.Value) (pickle.Value, error) {
	c.openTrace = -1
	budget := settingsBudget
	c.settings = map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		if key, ok := c.m.Text(pairs[i]); ok {
			c.settings[key] = c.plain(pairs[i+1], &budget, 0)
		}
	}
	if budget < 0 {
		return 0, c.in.Errorf(c.m.Offset(), "settings hold more than %d values", settingsBudget)
	}
	return dict, nil
}

func (c *consumer) plain(v pickle.Value, budget *int, depth int) any {
	if *budget--; *budget < 0 || depth > 8 {
		return nil
	}
	switch v.Type() {
	case pickle.Bool:
		return v.Bool()
	case pickle.Int:
		i, _ := c.m.Int64(v)
		return i
	case pickle.Float:
		f, _ := c.m.Float64(v)
		return f
	case pickle.String:
		s, _ := c.m.Text(v)
		return s
	case pickle.Dict:
		out := map[string]any{}
		for items := c.m.Items(v); len(items) >= 2; items = items[2:] {
			if key, ok := c.m.Text(items[0]); ok {
				out[key] = c.plain(items[1], budget, depth+1)
			}
		}
		return out
	case pickle.List, pickle.Tuple:
		out := []any{}
		for _, item := range c.m.Items(v) {
			out = append(out, c.plain(item, budget, depth+1))
		}
		return out
	}
	return nil
}

package family

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Limits of a config.json. The largest published ones (with a label for each
// of 20,000 classes) have 2 MiB, 90,000 values and are four deep.
const (
	maxConfigBytes  = 8 << 20
	maxConfigDepth  = 24
	maxConfigValues = 1 << 18
)

// A config is the tree of a config.json: objects are map[string]any, lists
// []any, numbers json.Number.
type config struct {
	file string
	tree map[string]any
	row  *Row           // whose defaults stand for absent keys; may be nil
	own  map[string]any // defaults of this model_type
	// assumed says that the row is another architecture's, as the user asked.
	assumed bool
}

// parseConfig reads JSON that nobody vouches for.
func parseConfig(file string, data []byte) (*config, error) {
	fail := func(format string, args ...any) error {
		return &Error{File: file, Msg: fmt.Sprintf(format, args...), Hint: "a config.json as Transformers saves it is wanted"}
	}
	if len(data) > maxConfigBytes {
		return nil, fail("%d bytes are more than a config.json has (limit %d)", len(data), maxConfigBytes)
	}
	p := treeReader{dec: json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))))}
	p.dec.UseNumber()
	v, err := p.value(0)
	if err == nil {
		if _, more := p.dec.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("something stands behind the JSON value")
		}
	}
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return nil, fail("byte %d is not JSON: %s", syntax.Offset, syntax)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fail("ends early, at byte %d", len(data))
	case err != nil:
		return nil, fail("byte %d: %s", p.dec.InputOffset(), err)
	}
	tree, ok := v.(map[string]any)
	if !ok {
		return nil, fail("holds %s, not an object", typeName(v))
	}
	return &config{file: file, tree: tree}, nil
}

// A treeReader builds the tree with limits on its depth and size.
type treeReader struct {
	dec    *json.Decoder
	values int
}

func (p *treeReader) value(depth int) (any, error) {
	t, err := p.dec.Token()
	if err != nil {
		return nil, err
	}
	if p.values++; p.values > maxConfigValues {
		return nil, fmt.Errorf("more than %d values", maxConfigValues)
	}
	open, ok := t.(json.Delim)
	if !ok {
		return t, nil
	}
	if depth >= maxConfigDepth {
		return nil, fmt.Errorf("nested more than %d deep", maxConfigDepth)
	}
	if open == '[' {
		list := []any{}
		for p.dec.More() {
			v, err := p.value(depth + 1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := p.dec.Token()
		return list, err
	}
	object := map[string]any{}
	for p.dec.More() {
		k, err := p.dec.Token()
		if err != nil {
			return nil, err
		}
		if object[k.(string)], err = p.value(depth + 1); err != nil {
			return nil, err
		}
	}
	_, err = p.dec.Token()
	return object, err
}

// given returns what stands in the file under a dotted key. A null counts as
// absent, as the config classes treat it.
func (c *config) given(key string) (any, bool) {
	var at any = c.tree
	for part := range strings.SplitSeq(key, ".") {
		object, ok := at.(map[string]any)
		if !ok {
			return nil, false
		}
		if at, ok = object[part]; !ok {
			return nil, false
		}
	}
	return at, at != nil
}

// lookup is given with the defaults of the family behind it; an explicit null
// is nil.
func (c *config) lookup(key string) any {
	if v, ok := c.given(key); ok {
		return v
	}
	if c.null(key) {
		return nil
	}
	if v, ok := c.own[key]; ok {
		return v
	}
	if c.row != nil {
		return c.row.Defaults[key]
	}
	return nil
}

// null reports whether the key is there and null.
func (c *config) null(key string) bool {
	at := c.tree
	for {
		part, rest, nested := strings.Cut(key, ".")
		v, ok := at[part]
		if !nested {
			return ok && v == nil
		}
		if at, ok = v.(map[string]any); !ok {
			return false
		}
		key = rest
	}
}

// first returns the first of the keys that is given.
func (c *config) first(keys ...string) (key string, v any, ok bool) {
	for _, k := range keys {
		if v, ok := c.given(k); ok {
			return k, v, true
		}
	}
	return "", nil, false
}

// text returns the string under a key, or "".
func (c *config) text(key string) string {
	s, _ := c.lookup(key).(string)
	return s
}

// texts returns the strings of a list under a key.
func (c *config) texts(key string) []string {
	list, _ := c.lookup(key).([]any)
	var out []string
	for _, v := range list {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// wrong is an error about the value of a key.
func (c *config) wrong(key, format string, args ...any) error {
	return &Error{File: c.file, Key: key, Msg: fmt.Sprintf(format, args...)}
}

// whole reads v, the value of key, as a whole number between low and high. A
// list of equal numbers counts as one, as image_size may be written.
func (c *config) whole(key string, v any, low, high int64) (int64, error) {
	if list, ok := v.([]any); ok {
		if len(list) == 0 {
			return 0, c.wrong(key, "is an empty list: a number is wanted")
		}
		for _, other := range list[1:] {
			if !same(other, list[0]) {
				return 0, c.wrong(key, "is %s: only equal sides are known", show(v))
			}
		}
		v = list[0]
	}
	n, ok := integer(v)
	switch {
	case !ok:
		return 0, c.wrong(key, "is %s, %s: a whole number is wanted", show(v), typeName(v))
	case n < low:
		return 0, c.wrong(key, "is %s: at least %d is wanted", show(v), low)
	case n > high:
		return 0, c.wrong(key, "is %s: at most %d is believed", show(v), high)
	}
	return n, nil
}

// integer is v as a whole number; 4096.0 is one, too. What is beyond 64 bits
// comes back as the nearest that is not.
func integer(v any) (int64, bool) {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n, true
		}
		f, err := v.Float64()
		switch {
		case err != nil && !errors.Is(err, strconv.ErrRange):
			return 0, false
		case f >= math.MaxInt64:
			return math.MaxInt64, true
		case f <= math.MinInt64:
			return math.MinInt64, true
		}
		return int64(f), f == math.Trunc(f)
	case float64: // of a row
		return int64(v), v == math.Trunc(v)
	}
	return 0, false
}

// number is v as a number.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	case float64:
		return v, true
	}
	return 0, false
}

// same reports whether a value of a config is one of a row: numbers by value,
// ">0" any number above zero.
func same(have, want any) bool {
	if want == ">0" {
		f, ok := number(have)
		return ok && f > 0
	}
	if a, ok := number(have); ok {
		b, ok := number(want)
		return ok && a == b
	}
	switch a := have.(type) {
	case []any:
		b, ok := want.([]any)
		return ok && slices.EqualFunc(a, b, same)
	case map[string]any:
		return false // no row wants an object
	}
	return have == want
}

// show is a value as it stands in JSON, shortened.
func show(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	return shortened(string(b))
}

func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case bool:
		return "true or false"
	case json.Number, float64:
		return "a number"
	case []any:
		return "a list"
	}
	return "an object"
}

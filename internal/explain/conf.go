package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/unit"
)

// Conf is the settings string that the recording ran under, as far as it is
// known; "" for none.
func (r *Recording) Conf() string { return strings.Join(r.options(), ",") }

// options are the settings of the recording one by one.
func (r *Recording) options() []string {
	if list := options(r.Tape.Meta["alloc_conf"]); len(list) > 0 {
		return list
	}
	var list []string
	if r.Settings.Expandable {
		list = append(list, growSegments)
	}
	if n := r.Settings.MaxSplit; n > 0 && n < unit.TiB {
		list = append(list, fmt.Sprintf("max_split_size_mb:%d", n/unit.MiB))
	}
	return list
}

// conf is the whole value to set for one more setting: it takes the place of
// the variable, so that what was set before has to stand in it too.
func (r *Recording) conf(setting string) string {
	key, _, _ := strings.Cut(setting, ":")
	list := slices.DeleteFunc(r.options(), func(o string) bool {
		k, _, _ := strings.Cut(o, ":")
		return k == key
	})
	return strings.Join(append(list, setting), ",")
}

// options splits a settings string at the commas outside of brackets.
func options(conf string) []string {
	var list []string
	depth, from := 0, 0
	for i, c := range conf + "," {
		switch {
		case c == '[':
			depth++
		case c == ']':
			depth--
		case c == ',' && depth <= 0:
			if o := strings.TrimSpace(conf[from:i]); o != "" {
				list = append(list, o)
			}
			from = i + 1
		}
	}
	return list
}

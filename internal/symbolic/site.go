package symbolic

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/tape"
)

// sites are those of a play: a row for each layer, a column for each operator.
type sites struct {
	labels []string
	ids    map[string]int // of labels
	rows   map[layer][]tape.SiteID
}

// A layer is a frame's name: a part's, or the layer of a stack.
type layer struct {
	name string
	i    int
}

// number is the column of an operator.
func (s *sites) number(label string) int {
	n, ok := s.ids[label]
	if !ok {
		if s.ids == nil {
			s.ids = map[string]int{}
		}
		n = len(s.labels)
		s.ids[label] = n
		s.labels = append(s.labels, label)
	}
	return n
}

// row is the row of a layer, with a column for each label that is known now.
func (p *player) row(part *Part, i int) []tape.SiteID {
	at := layer{part.Name, 0}
	if part.Stack != "" {
		at = layer{part.Stack + ".", i}
	}
	row := p.sites.rows[at]
	if len(row) < len(p.sites.labels) {
		row = append(row, make([]tape.SiteID, len(p.sites.labels)-len(row))...)
		if p.sites.rows == nil {
			p.sites.rows = map[layer][]tape.SiteID{}
		}
		p.sites.rows[at] = row
	}
	return row
}

// site is the site of an operator in a row.
func (p *player) site(row []tape.SiteID, part *Part, i, label int) tape.SiteID {
	if row[label] != 0 {
		return row[label]
	}
	frame := tape.Frame{Name: part.Name, File: p.sites.labels[label]}
	if p.plan.Paths != nil {
		frame = tape.Frame{File: operatorOf(frame.File)}
	}
	if part.Scope == Script {
		frame = scriptFrame(p.sites.labels[label])
	}
	if part.Stack != "" {
		frame.Name = p.layerName(part.Stack, i)
	}
	row[label] = p.w.Tape().InternSite([]tape.Frame{frame})
	return row[label]
}

// operatorOf is the operator of a label that people know, not one that only
// finds the memory for it; empty where there is no other.
func operatorOf(label string) string {
	for w := range strings.FieldsSeq(label) {
		if !strings.HasPrefix(w, "empty") && w != "resize_" && w != "new_empty" {
			return "aten::" + w
		}
	}
	return ""
}

package recordings

import (
	"fmt"
	"strconv"
	"strings"
)

// A Way is one way to use a family's models. A tape answers for one, and its
// key in a file is the Way's text.
type Way struct {
	Task, Mode, Precision, Attention, Checkpoint string
	Class                                        int // of cards: 75, 80 or 90
	Structure                                    string
	ChannelsLast, Unpadded                       bool
	LoRA                                         []string // targets
	Quantize, Shard                              string
}

// String returns the way as ParseWay reads it.
func (w Way) String() string {
	key := fmt.Sprintf("%s/%s/%s/%s/%s/%d/%s", w.Task, w.Mode, w.Precision, w.Attention, w.Checkpoint, w.Class, w.Structure)
	if w.ChannelsLast {
		key += "/channels-last"
	}
	if w.Unpadded {
		key += "/unpadded"
	}
	if len(w.LoRA) > 0 {
		key += "/lora=" + strings.Join(w.LoRA, "+")
	}
	if w.Quantize != "" {
		key += "/" + w.Quantize
	}
	if w.Shard != "" {
		key += "/" + w.Shard
	}
	return key
}

// ParseWay reads what String writes.
func ParseWay(key string) (w Way, ok bool) {
	f := strings.Split(key, "/")
	if len(f) < 7 {
		return w, false
	}
	class, err := strconv.Atoi(f[5])
	w = Way{Task: f[0], Mode: f[1], Precision: f[2], Attention: f[3], Checkpoint: f[4], Class: class, Structure: f[6]}
	for _, more := range f[7:] {
		targets, lora := strings.CutPrefix(more, "lora=")
		switch {
		case lora:
			w.LoRA = strings.Split(targets, "+")
		case more == "channels-last":
			w.ChannelsLast = true
		case more == "unpadded":
			w.Unpadded = true
		case more == "nf4":
			w.Quantize = more
		default:
			w.Shard = more
		}
	}
	return w, err == nil
}

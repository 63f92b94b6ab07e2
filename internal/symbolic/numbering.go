package symbolic

import (
	"fmt"
	"strconv"
)

// A numbering is the slots of a body, or of the places of parameters, as they are
// written: by what each is more than the one before. So what follows one another as
// elsewhere is written as there, whatever its slots are: files pack to half, and an
// event that comes in between changes one line or two.
type numbering struct {
	allocated int            // the last slot of an allocation
	of        map[string]int // the last slot of what is in a part
}

// newNumbering begins where the first allocation is in slot 0.
func newNumbering() *numbering { return &numbering{-1, map[string]int{}} }

// allocation is the slot of an allocation, nothing where it is the next.
func (n *numbering) allocation(slot int) string {
	more := slot - n.allocated
	n.allocated = slot
	if more == 1 {
		return ""
	}
	return fmt.Sprintf("%+d", more)
}

// within is the slot of what is in a part.
func (n *numbering) within(part string, slot int) string {
	more := slot - n.of[part]
	n.of[part] = slot
	return fmt.Sprintf("%+d", more)
}

// readAllocation reads what allocation writes.
func (n *numbering) readAllocation(text string) (slot int, err error) {
	if text == "" {
		text = "+1"
	}
	slot, err = readSlot(text, n.allocated)
	n.allocated = slot
	return slot, err
}

// readWithin reads what within writes.
func (n *numbering) readWithin(part, text string) (slot int, err error) {
	slot, err = readSlot(text, n.of[part])
	n.of[part] = slot
	return slot, err
}

// readSlot is a slot that is written by itself, or, with a sign, by what it is more
// than the last.
func readSlot(text string, last int) (int, error) {
	slot, err := strconv.Atoi(text)
	if err == nil && (text[0] == '+' || text[0] == '-') {
		slot += last
	}
	if err != nil || slot < 0 || slot >= maxSlots {
		return 0, fmt.Errorf("slot %q", text)
	}
	return slot, nil
}

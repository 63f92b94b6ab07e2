package alloc

import "github.com/plimsoll-dev/plimsoll/unit"

// The blocks of a bin form a treap: a search tree by size and address that
// is a heap by a priority drawn from the block's index. It stays flat for
// any input, needs no memory of its own, and for the one or two blocks that
// a bin nearly always holds it costs nothing.

func priority(i uint32) uint32 { return i * 2654435769 } // Knuth's multiplicative hash

// less orders blocks as PyTorch's set does.
func (d *device) less(i uint32, size unit.Bytes, addr uint64) bool {
	b := &d.blocks[i]
	return b.size < size || b.size == size && b.addr < addr
}

// before reports whether block i comes before block j. Two blocks of the same
// size and address exist only in a recording that contradicts itself; the
// index keeps even those apart.
func (d *device) before(i, j uint32) bool {
	a, b := &d.blocks[i], &d.blocks[j]
	switch {
	case a.size != b.size:
		return a.size < b.size
	case a.addr != b.addr:
		return a.addr < b.addr
	}
	return i < j
}

// insert adds block i to the tree at root.
func (d *device) insert(root *uint32, i uint32) {
	b := &d.blocks[i]
	up := uint32(0)
	for *root != 0 && priority(*root) >= priority(i) {
		up = *root
		r := &d.blocks[up]
		if d.before(up, i) {
			root = &r.right
		} else {
			root = &r.left
		}
	}
	rest := *root
	*root = i
	b.parent = up
	smaller, larger := &b.left, &b.right
	upSmaller, upLarger := i, i
	for rest != 0 {
		r := &d.blocks[rest]
		if d.before(rest, i) {
			*smaller, r.parent = rest, upSmaller
			smaller, upSmaller = &r.right, rest
			rest = r.right
		} else {
			*larger, r.parent = rest, upLarger
			larger, upLarger = &r.left, rest
			rest = r.left
		}
	}
	*smaller, *larger = 0, 0
}

// remove takes block i out of the tree at root.
func (d *device) remove(root *uint32, i uint32) {
	b := &d.blocks[i]
	left, right, up := b.left, b.right, b.parent
	if up != 0 {
		if p := &d.blocks[up]; p.left == i {
			root = &p.left
		} else {
			root = &p.right
		}
	}
	for left != 0 && right != 0 {
		if priority(left) >= priority(right) {
			l := &d.blocks[left]
			*root, l.parent, up = left, up, left
			root, left = &l.right, l.right
		} else {
			r := &d.blocks[right]
			*root, r.parent, up = right, up, right
			root, right = &r.left, r.left
		}
	}
	*root = left | right
	if *root != 0 {
		d.blocks[*root].parent = up
	}
}

// lowerBound returns the first block that is not less than the key.
func (d *device) lowerBound(root uint32, size unit.Bytes, addr uint64) (best uint32) {
	for root != 0 {
		if d.less(root, size, addr) {
			root = d.blocks[root].right
		} else {
			best, root = root, d.blocks[root].left
		}
	}
	return best
}

// upperBound returns the last block that is less than the key.
func (d *device) upperBound(root uint32, size unit.Bytes, addr uint64) (best uint32) {
	for root != 0 {
		if d.less(root, size, addr) {
			best, root = root, d.blocks[root].right
		} else {
			root = d.blocks[root].left
		}
	}
	return best
}

func (d *device) leftmost(root uint32) uint32 {
	for d.blocks[root].left != 0 {
		root = d.blocks[root].left
	}
	return root
}

func (d *device) rightmost(root uint32) uint32 {
	for d.blocks[root].right != 0 {
		root = d.blocks[root].right
	}
	return root
}

// walk appends the blocks of a tree to list, in order.
func (d *device) walk(root uint32, list []uint32) []uint32 {
	if root == 0 {
		return list
	}
	list = d.walk(d.blocks[root].left, list)
	list = append(list, root)
	return d.walk(d.blocks[root].right, list)
}

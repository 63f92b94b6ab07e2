package alloc

import "slices"

// A queue holds the events that were recorded on a stream when blocks were
// given up which the stream used.
type queue struct {
	stream uint64
	blocks []uint32
	done   int // events at the head that are over
}

func (d *device) queue(stream uint64) *queue {
	for i := range d.queues {
		if d.queues[i].stream == stream {
			return &d.queues[i]
		}
	}
	d.queues = append(d.queues, queue{stream: stream})
	return &d.queues[len(d.queues)-1]
}

// recordStream notes that another stream uses block i. Mirrors recordStream.
func (d *device) recordStream(i uint32, stream uint64) {
	if d.shelves[d.blocks[i].shelf].stream == stream || slices.Contains(d.uses[i], stream) {
		return
	}
	if d.uses == nil {
		d.uses, d.captured = map[uint32][]uint64{}, map[uint32][]uint64{}
	}
	d.uses[i] = append(d.uses[i], stream)
	if d.capturing {
		d.captured[i] = append(d.captured[i], stream)
	}
}

// streamDone says that the work queued on a stream so far is over.
func (d *device) streamDone(stream uint64) {
	q := d.queue(stream)
	q.done = len(q.blocks)
}

// insertEvents records one event on each stream that uses block i.
func (d *device) insertEvents(i uint32) {
	for _, stream := range d.uses[i] {
		q := d.queue(stream)
		q.blocks = append(q.blocks, i)
		d.blocks[i].events++
		d.awaited++
	}
	delete(d.uses, i)
}

// insertDeferred records the events of blocks that were given up during a
// capture; uses that the capture itself noted are dropped.
func (d *device) insertDeferred() {
	list := d.deferred
	d.deferred = nil
	for _, i := range list {
		if noted := d.captured[i]; len(noted) > 0 {
			d.uses[i] = slices.DeleteFunc(d.uses[i], func(s uint64) bool { return slices.Contains(noted, s) })
			delete(d.captured, i)
		}
		if len(d.uses[i]) == 0 {
			delete(d.uses, i)
			d.freeBlock(i)
			continue
		}
		d.insertEvents(i)
	}
}

// processEvents frees the blocks whose events are over, outside a capture.
func (d *device) processEvents() {
	if d.capturing {
		return
	}
	d.insertDeferred()
	for q := range d.queues {
		d.drain(&d.queues[q], d.queues[q].done)
	}
}

// drain takes the first n events of a queue as over.
func (d *device) drain(q *queue, n int) {
	for _, i := range q.blocks[:n] {
		d.awaited--
		if d.blocks[i].events--; d.blocks[i].events == 0 {
			d.freeBlock(i)
		}
	}
	q.blocks = append(q.blocks[:0], q.blocks[n:]...)
	q.done = 0
}

// synchronize waits for all events. Blocks that a tape holds as pending are
// free afterwards too; their owners are listed in early.
func (d *device) synchronize() {
	d.scalars.syncs++
	d.insertDeferred()
	for q := range d.queues {
		d.drain(&d.queues[q], len(d.queues[q].blocks))
	}
	for i := 1; i < len(d.blocks) && d.held > 0; i++ {
		if b := &d.blocks[i]; b.state == pending {
			d.held--
			d.early = append(d.early, b.owner)
			d.freeBlock(uint32(i))
		}
	}
}

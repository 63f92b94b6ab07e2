package explain

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/plimsoll-dev/plimsoll/finding"
	"github.com/plimsoll-dev/plimsoll/internal/alloc"
	"github.com/plimsoll-dev/plimsoll/internal/attribute"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A Check compares the model of the allocator with the recording.
type Check struct {
	Done        bool
	Exact       bool   // every address, every segment and the last layout are equal
	Why         string // when it is not done
	Version     string // of PyTorch's allocator that agrees best
	Allocs      int
	Segments    int // got, given back, mapped and unmapped
	Blocks      int // of the layout at the end
	Flushes     int
	Differences int
	First       []string // differences
	// Recorded and Replayed are the peaks of the recording and of the
	// unchanged replay, whose own addresses may break ties otherwise.
	Recorded, Replayed alloc.Level
	Retries            int64
	DriverCalls        int64
	// Anew is the unchanged replay in which also what was in use before the
	// recording began is asked for, which changes of settings are compared
	// with; nil when nothing was in use then.
	Anew *Baseline
	// Room is what the allocator could get from the driver, 0 for no limit
	// that is known; RoomFrom says how.
	Room     unit.Bytes
	RoomFrom string
}

// A Baseline is what changes are compared with.
type Baseline struct {
	Reserved    unit.Bytes // peak
	DriverCalls int64
	OOM         bool
}

// Kinds of counterfactuals.
const (
	SettingChange = "setting"
	CallChange    = "call"
	CauseRemoved  = "cause"
)

// A Counterfactual is what the recording would have come to otherwise.
type Counterfactual struct {
	Kind    string
	Name    string // "expandable_segments:True"
	Action  string // what to do, in the imperative
	Flag    string // setting or code to type
	Assumes string // what must be so for the numbers to hold; "" for nothing
	Exact   finding.Exactness

	Reserved, Allocated unit.Bytes // peaks
	Saves               unit.Bytes // of the reserved peak; negative when it takes more
	Anew                bool       // it is compared with Check.Anew, else with Check.Replayed
	DriverCalls         int64
	Retries             int64
	OOM                 bool   // a request still fails
	Failed              string // why it could not be replayed
}

// A change is a counterfactual before it is replayed.
type change struct {
	Counterfactual
	settings func(*alloc.Settings)
	edit     func(*alloc.Edit)
	anew     bool
	// same says that it cannot come to anything else than the unchanged
	// replay.
	same bool
}

// A player replays one recording under changes.
type player struct {
	r    *Recording
	base alloc.Edit
	s    alloc.Settings
	room unit.Bytes
	// largest is the largest request, or segment from before.
	largest unit.Bytes
	lock    sync.Mutex
	done    map[string]outcome // replays that were made ahead, and unchanged ones, by key
}

// An outcome is what a replay came to.
type outcome struct {
	line alloc.DeviceTimeline
	oom  bool
	err  error
}

// key tells changes apart.
func (c *change) key() string { return fmt.Sprintf("%s %t", c.Name, c.anew) }

// play replays the tape under a change.
func (p *player) play(c change) (alloc.DeviceTimeline, bool, error) {
	if c.same {
		c = change{anew: c.anew}
	}
	p.lock.Lock()
	o, ok := p.done[c.key()]
	p.lock.Unlock()
	if ok {
		return o.line, o.oom, o.err
	}
	s, e := p.s, p.base
	if c.settings != nil {
		c.settings(&s)
	}
	if c.edit != nil {
		c.edit(&e)
	}
	e.Anew = e.Anew || c.anew
	line, err := alloc.ReplayEdited(p.r.Tape, s, p.room, e)
	if err != nil {
		return alloc.DeviceTimeline{}, false, err
	}
	o = outcome{line: line.Devices[p.r.Device], oom: line.OOM != nil}
	if c.settings == nil && c.edit == nil {
		p.keep(c.key(), o)
	}
	return o.line, o.oom, nil
}

// keep notes an outcome that may be asked for again.
func (p *player) keep(key string, o outcome) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.done == nil {
		p.done = map[string]outcome{}
	}
	p.done[key] = o
}

// splits reports whether a limit of that size for splitting can have an
// effect: where the driver always gives more, it is on blocks of that size
// only, and a segment is no larger than the request that it was got for.
func (p *player) splits(limit unit.Bytes) bool {
	rounds := slices.ContainsFunc(p.s.Divisions[:], func(n uint64) bool { return n > 1 })
	if p.room > 0 || p.s.Expandable || p.s.LargeSegment > 0 || rounds {
		return true
	}
	// A segment is a multiple of 2 MiB, and 20 MiB where smaller ones would do.
	return max(p.largest.RoundUp(2*unit.MiB), 20*unit.MiB) >= limit
}

// all replays changes, two at a time. Those that end without a failure and
// with the lowest peak come first within their kind.
func (p *player) all(changes []change, reference, anew unit.Bytes) []Counterfactual {
	out := make([]Counterfactual, len(changes))
	work := make(chan int)
	var wait sync.WaitGroup
	for range 2 {
		wait.Go(func() {
			for i := range work {
				c := changes[i]
				d, oom, err := p.play(c)
				f := c.Counterfactual
				if err != nil {
					f.Failed = err.Error()
				}
				f.Reserved, f.Allocated, f.DriverCalls, f.Retries, f.OOM = d.Peak.Reserved, d.Peak.Allocated, d.DriverCalls(), d.Retries, oom
				f.Saves = reference - f.Reserved
				if c.anew {
					f.Anew, f.Saves = true, anew-f.Reserved
				}
				out[i] = f
			}
		})
	}
	for i := range changes {
		work <- i
	}
	close(work)
	wait.Wait()
	return slices.DeleteFunc(out, func(c Counterfactual) bool { return c.Failed != "" })
}

// ahead replays what does not depend on the check of the recording, one after
// the other until it is told to stop.
func (p *player) ahead(changes []change, stop *atomic.Bool) map[string]outcome {
	done := map[string]outcome{}
	for _, c := range changes {
		if stop.Load() {
			break
		}
		var o outcome
		o.line, o.oom, o.err = p.play(c)
		done[c.key()] = o
	}
	return done
}

// bestOf keeps the best of those that share a group.
func bestOf(list []Counterfactual, group func(Counterfactual) string) []Counterfactual {
	best := map[string]int{}
	var out []Counterfactual
	for _, c := range list {
		g := group(c)
		i, known := best[g]
		if g == "" || !known {
			best[g] = len(out)
			out = append(out, c)
			continue
		}
		if better(c, out[i]) < 0 {
			out[i] = c
		}
	}
	return out
}

// better orders counterfactuals: no failure first, then the lower peak.
func better(a, b Counterfactual) int {
	if a.OOM != b.OOM {
		if a.OOM {
			return 1
		}
		return -1
	}
	return cmp.Or(cmp.Compare(a.Reserved, b.Reserved), cmp.Compare(a.DriverCalls, b.DriverCalls))
}

// splitSizes and divisions are the values that are tried, of which the best
// is shown.
var (
	splitSizes = []unit.Bytes{128 * unit.MiB, 64 * unit.MiB, 256 * unit.MiB, 512 * unit.MiB}
	divisions  = []uint64{8, 4, 2}
)

// fraction is the share of the device that a collector needs to be limited
// to: without a limit PyTorch never collects.
const fraction = 0.99

// longTape is a number of events from which on each replay is felt, so that
// fewer values are tried and replays begin while the recording is checked. A
// test lowers it.
var longTape = 1_000_000

// tried are the first values of a list, only one of a long tape.
func tried[T any](p *player, list []T) []T {
	if p.r.Tape.Len() >= longTape && !p.r.Thorough {
		return list[:1]
	}
	return list
}

// settingChanges are the settings that are worth a try.
func (p *player) settingChanges() []change {
	assumes := ""
	if len(p.r.Tape.Initial) > 0 {
		assumes = "what was in use before the recording began is asked for again, in the order of its addresses"
	}
	setting := func(name string, f func(*alloc.Settings)) change {
		return change{Counterfactual: Counterfactual{
			Kind: SettingChange, Name: name, Action: "set PYTORCH_CUDA_ALLOC_CONF=" + p.r.conf(name), Flag: "PYTORCH_CUDA_ALLOC_CONF=" + p.r.conf(name), Assumes: assumes, Exact: finding.SameNumbers,
		}, settings: f, anew: len(p.r.Tape.Initial) > 0}
	}
	var list []change
	if !p.s.Expandable {
		c := setting(growSegments, func(s *alloc.Settings) { s.Expandable = true })
		if p.r.Old {
			c.Assumes = "PyTorch is 2.1 or later, which this recording's is not"
		}
		list = append(list, c)
	}
	for _, n := range tried(p, splitSizes) {
		c := setting(fmt.Sprintf("max_split_size_mb:%d", n/unit.MiB), func(s *alloc.Settings) { s.MaxSplit = n })
		c.same = !p.splits(n)
		list = append(list, c)
	}
	for _, n := range tried(p, divisions) {
		list = append(list, setting(fmt.Sprintf("roundup_power2_divisions:%d", n), func(s *alloc.Settings) {
			for i := range s.Divisions {
				s.Divisions[i] = n
			}
		}))
	}
	if p.room > 0 {
		c := setting("garbage_collection_threshold:0.8", func(s *alloc.Settings) {
			f := fraction
			s.GCThreshold, s.Fraction = 0.8, &f
		})
		c.Action += " and call torch.cuda.set_per_process_memory_fraction(0.99): without a limit PyTorch never collects"
		list = append(list, c)
	}
	return list
}

// group names what belongs together among the settings and calls.
func group(c Counterfactual) string {
	for i := range c.Name {
		if c.Name[i] == ':' {
			return c.Name[:i]
		}
	}
	return c.Name
}

// mostPlaces is at how many places empty_cache is tried.
const mostPlaces = 6

// callChanges are calls at some place: emptying the cache, collecting
// garbage at the ends of steps.
func (p *player) callChanges(l *Levels) []change {
	r := p.r
	var list []change
	places := map[int]string{}
	if l.ReservedAt > 0 {
		places[l.ReservedAt] = "right before the reserved peak, at " + r.whereAt(l.ReservedAt)
	}
	// What comes after the highest moment cannot lower it.
	last := l.ReservedAt
	if n := len(l.Failures); n > 0 {
		last = max(last, l.Failures[n-1])
		places[l.Failures[n-1]] = "right before the request that failed"
	}
	ends := mostPlaces
	if r.Tape.Len() >= longTape && !r.Thorough {
		ends = 1
	}
	before := sort.SearchInts(r.ends, last+1)
	for i := max(0, before-ends); i < before; i++ {
		places[r.ends[i]] = fmt.Sprintf("after step %d", i+1)
	}
	device := r.Device
	for at, where := range places {
		list = append(list, change{Counterfactual: Counterfactual{
			Kind: CallChange, Name: "empty_cache: " + where, Action: "call torch.cuda.empty_cache() " + where, Flag: "torch.cuda.empty_cache()", Exact: finding.SameNumbers,
		}, edit: func(e *alloc.Edit) {
			e.Cuts = alloc.Join(e.Cuts, []alloc.Cut{{Event: at, Device: device, EmptyCache: true}})
		}})
	}
	slices.SortFunc(list, func(a, b change) int { return cmp.Compare(a.Name, b.Name) })
	if cuts := r.garbage(); len(cuts) > 0 {
		list = append(list, change{Counterfactual: Counterfactual{
			Kind: CallChange, Name: "gc.collect() after each step", Action: "call gc.collect() after each step", Flag: "gc.collect()", Exact: finding.SameNumbers,
			Assumes: "what a step made and a later one gave up was garbage when its step ended",
		}, edit: func(e *alloc.Edit) { e.Cuts = alloc.Join(e.Cuts, cuts) }})
	}
	return list
}

// whereAt names the place of an event for people.
func (r *Recording) whereAt(event int) string {
	for i := event; i < r.Tape.Len() && i < event+64; i++ {
		if r.Tape.Kind(i) == tape.Alloc || r.Tape.Kind(i) == tape.OOM {
			if p := r.places.place(r.Tape.SiteOf(i)); p.Library != attribute.NoStack {
				return p.String()
			}
			break
		}
	}
	return fmt.Sprintf("event %d", event)
}

// garbage are the blocks that outlive at least one whole step after their own
// and are given up then, freed at the end of their own step.
func (r *Recording) garbage() []alloc.Cut {
	byStep := map[int][]tape.BlockID{}
	for i := range r.Tape.Blocks() {
		b := r.Tape.Block(tape.BlockID(i))
		if b.Device != r.Device || b.Alloc < 0 || b.Free < 0 || b.Category == tape.Gradient || b.Category == tape.OptimizerState || b.Category == tape.Parameter {
			continue
		}
		born, died := r.stepAt(b.Alloc), r.stepAt(b.Free)
		if died >= born+2 && born <= len(r.ends) {
			byStep[born] = append(byStep[born], tape.BlockID(i))
		}
	}
	return r.cutsAtEnds(byStep)
}

// cutsAtEnds frees blocks at the ends of steps, numbered from 1.
func (r *Recording) cutsAtEnds(byStep map[int][]tape.BlockID) []alloc.Cut {
	var cuts []alloc.Cut
	for i, at := range r.ends {
		if blocks := byStep[i+1]; len(blocks) > 0 {
			cuts = append(cuts, alloc.Cut{Event: at, Device: r.Device, Free: blocks})
		}
	}
	return cuts
}

// parts is into how many parts a block is cut when it is made part by part.
const parts = 8

// causeChanges take away one cause each.
func (p *player) causeChanges(m *Moment, g *Growth, failures []Failure) []change {
	var list []change
	if g != nil {
		list = append(list, p.leftovers(g, m.Event)...)
	}
	if n := len(failures); n > 0 && failures[n-1].Rounded*20 >= failures[n-1].Requested && p.r.inParts(&failures[n-1]) {
		f := failures[n-1]
		list = append(list, change{Counterfactual: Counterfactual{
			Kind: CauseRemoved, Name: "the failed request in 8 parts", Exact: finding.SameExpectation,
			Action:  fmt.Sprintf("make the %s at %s in %d parts, one after the other", f.Rounded, f.Place, parts),
			Assumes: "each part is given up before the next is made",
		}, edit: func(e *alloc.Edit) { e.FailedParts = parts }})
	}
	list = append(list, p.kindChanges(m, failures)...)
	made := 0
	for _, s := range m.ByPlace {
		if s.Before > 0 || made == len(tried(p, []int{1, 2})) || s.Place.File == "" && s.Place.Via == "" || s.Bytes*20 < m.Requested {
			continue
		}
		made++
		if slices.Contains(floating, s.Category) {
			list = append(list, p.halved(s))
		}
		if s.Largest*10 >= m.Requested && p.r.brief(s.Place, s.Largest) == allBrief {
			list = append(list, p.chunked(s))
		}
	}
	return list
}

const leftoversFreed = "what each step leaves behind freed at its end"

// leftovers frees what steps leave behind when they end.
func (p *player) leftovers(g *Growth, moment int) []change {
	r := p.r
	of := func(accept func(place int32) bool) func(*alloc.Edit) {
		byStep := map[int][]tape.BlockID{}
		for i := range r.Tape.Blocks() {
			b := r.Tape.Block(tape.BlockID(i))
			if b.Device != r.Device || b.Alloc < 0 || b.Alloc > moment || b.Free >= 0 && b.Free <= moment {
				continue
			}
			if step := r.stepAt(b.Alloc); step <= len(r.ends) && step >= 2 && accept(r.places.number(b.Site)) {
				byStep[step] = append(byStep[step], tape.BlockID(i))
			}
		}
		cuts := r.cutsAtEnds(byStep)
		return func(e *alloc.Edit) { e.Cuts = alloc.Join(e.Cuts, cuts) }
	}
	all := map[int32]bool{}
	for _, s := range g.Places {
		all[s.number] = true
	}
	list := []change{{Counterfactual: Counterfactual{
		Kind: CauseRemoved, Name: leftoversFreed, Exact: finding.SameNumbers,
		Action: "let go of what a step leaves behind when it ends",
	}, edit: of(func(n int32) bool { return all[n] })}}
	if len(g.Places) > 1 {
		top := g.Places[0]
		list = append(list, change{Counterfactual: Counterfactual{
			Kind: CauseRemoved, Name: "what " + top.Place.String() + " leaves behind freed at the step's end", Exact: finding.SameNumbers,
			Action: "let go of what " + top.Place.String() + " makes when the step ends",
		}, edit: of(func(n int32) bool { return n == top.number })})
	}
	return list
}

// ofPasses are categories that grow with the batch.
var ofPasses = []tape.Category{tape.Activation, tape.Input, tape.Temporary}

// passes are the phases in which they are made.
var passes = []tape.Phase{tape.Forward, tape.Loss, tape.Backward}

// kindChanges change what a kind of blocks takes, wherever they are made. Of a
// long recording they are left out.
func (p *player) kindChanges(m *Moment, failures []Failure) []change {
	if p.r.Tape.Len() >= longTape && !p.r.Thorough {
		return nil
	}
	held := func(list ...tape.Category) (b unit.Bytes) {
		for _, c := range list {
			b += m.ByCategory[c]
		}
		return b
	}
	var list []change
	if held(ofPasses...)*20 >= m.Requested && m.Requested > 0 {
		smaller := p.scaled(2, func(b *tape.Block) bool {
			return slices.Contains(ofPasses, b.Category) && (b.Phase == tape.Idle || slices.Contains(passes, b.Phase))
		})
		n := len(failures)
		action := "half the batch, accumulated over twice the steps"
		if !p.r.trains() {
			action = "half the batch"
		}
		list = append(list, change{Counterfactual: Counterfactual{
			Kind: CauseRemoved, Name: "half the batch", Action: action, Exact: finding.SameExpectation,
			Assumes: "activations, inputs and temporaries halve with it",
		}, edit: func(e *alloc.Edit) {
			smaller(e)
			if n > 0 && slices.Contains(passes, failures[n-1].Phase) {
				e.FailedParts = 2
			}
		}})
	}
	if held(tape.OptimizerState)*20 >= m.Requested && m.Requested > 0 {
		list = append(list, change{Counterfactual: Counterfactual{
			Kind: CauseRemoved, Name: "optimizer states in 8 bits", Action: "keep optimizer states in 8 bits (bitsandbytes), or shard them over ranks", Exact: finding.ChangesResults,
			Assumes: "they are in fp32 now",
		}, edit: p.scaled(4, func(b *tape.Block) bool { return b.Category == tape.OptimizerState })})
	}
	return list
}

// trains reports whether there is a backward pass.
func (r *Recording) trains() bool {
	for i := range r.Tape.Len() {
		if r.Tape.PhaseOf(i) == tape.Backward {
			return true
		}
	}
	return false
}

// scaled divides the requests of the blocks that are accepted.
func (p *player) scaled(by unit.Bytes, accept func(*tape.Block) bool) func(*alloc.Edit) {
	t := p.r.Tape
	return func(e *alloc.Edit) {
		e.Bytes = func(id tape.BlockID, bytes unit.Bytes) unit.Bytes {
			if b := t.Block(id); accept(&b) {
				return max(bytes/by, 1)
			}
			return bytes
		}
	}
}

// floating are categories that hold numbers which may be kept in fewer bits;
// recordings do not tell types.
var floating = []tape.Category{tape.Parameter, tape.Gradient, tape.Activation}

// halved asks for half of what a place asks for.
func (p *player) halved(s PlaceShare) change {
	return change{Counterfactual: Counterfactual{
		Kind: CauseRemoved, Name: s.Place.String() + " in half the bytes", Action: "keep what " + s.Place.String() + " makes in bf16", Exact: finding.ChangesResults,
		Assumes: "it is floating point and in fp32 now",
	}, edit: p.resized(s.Place, 2, 0)}
}

// chunked asks for the largest blocks of a place in parts.
func (p *player) chunked(s PlaceShare) change {
	return change{Counterfactual: Counterfactual{
		Kind: CauseRemoved, Name: "the largest blocks of " + s.Place.String() + " in 8 parts", Exact: finding.SameExpectation,
		Action:  fmt.Sprintf("compute the %s of %s in %d parts, one after the other", s.Largest, s.Place, parts),
		Assumes: "each part is given up before the next is made",
	}, edit: p.resized(s.Place, parts, s.Largest)}
}

// resized divides the requests of a place from some size on.
func (p *player) resized(place Place, by, from unit.Bytes) func(*alloc.Edit) {
	t := p.r.Tape
	n := p.r.places.index[place]
	marked := make([]bool, t.Sites()+1)
	for s := range marked {
		marked[s] = p.r.places.of[s] == n
	}
	return func(e *alloc.Edit) {
		e.Bytes = func(b tape.BlockID, bytes unit.Bytes) unit.Bytes {
			if bytes >= from && marked[t.Block(b).Site] {
				return max(bytes/by, 1)
			}
			return bytes
		}
	}
}

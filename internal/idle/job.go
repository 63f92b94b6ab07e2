package idle

import (
	"cmp"
	"slices"
)

// launchers are programs that start a job and do not belong to it, or wait for
// it: what they do says nothing about the training.
var launchers = []string{
	"sh", "bash", "dash", "zsh", "fish", "ksh", "tmux", "tmux: server", "screen", "sshd", "login", "su", "sudo", "systemd", "init",
	"env", "nice", "timeout", "time", "nohup", "xargs", "make", "srun", "slurmstepd", "mpirun", "orted", "hydra_pmi_proxy",
	"torchrun", "accelerate", "deepspeed", "uv", "poetry", "conda", "plimsoll", "go", "containerd-shim", "docker-init", "tini", "cron",
}

func launches(p *proc) bool { return slices.Contains(launchers, p.last.Name) }

// job chooses the processes that the question is about: the tree under the root,
// or without one the tree that holds most memory on the GPUs asked for.
func (v *view) job(all []*proc) {
	byPID := map[int]*proc{}
	for _, p := range all {
		byPID[p.pid] = p
	}
	if v.w.Root != 0 {
		for _, p := range all {
			if p.pid == v.w.Root || under(p, byPID, v.w.Root) {
				v.procs = append(v.procs, p)
			}
		}
		if len(v.w.Devices) == 0 || slices.ContainsFunc(v.procs, v.onAsked) {
			return
		}
		// It is on none of the GPUs that the answer is of: somebody else may be.
		v.procs, v.w.Root = nil, 0
	}
	weight := map[int]float64{}
	var world int
	for _, p := range all {
		if m := v.held(p); m > 0 {
			weight[top(p, byPID)] += m
		}
	}
	best := 0
	for pid, m := range weight {
		if best == 0 || m > weight[best] || m == weight[best] && pid < best {
			best = pid
		}
	}
	if p := byPID[best]; p != nil {
		world = p.last.WorldSize
	}
	for _, p := range all {
		t := top(p, byPID)
		if best != 0 && (t == best || world > 1 && byPID[t] != nil && byPID[t].last.WorldSize == world && byPID[t].last.User == byPID[best].last.User) {
			v.procs = append(v.procs, p)
		}
	}
}

// held weighs a process by the memory that it held on the GPUs asked for; one
// whose memory is unknown weighs one byte.
func (v *view) held(p *proc) float64 {
	sum := 0.0
	for _, u := range p.uses {
		if len(v.w.Devices) == 0 || slices.Contains(v.w.Devices, u.device) {
			sum += u.held
		}
	}
	return sum
}

// onAsked says whether a process was on a GPU that was asked for.
func (v *view) onAsked(p *proc) bool {
	return slices.ContainsFunc(v.w.Devices, p.usesDevice)
}

// deepest bounds how far up a tree of processes is followed: a recording may
// hold a circle.
const deepest = 64

// under says whether a process descends from root.
func under(p *proc, byPID map[int]*proc, root int) bool {
	for range deepest {
		if p.parent == root {
			return true
		}
		up := byPID[p.parent]
		if up == nil || up == p {
			return false
		}
		p = up
	}
	return false
}

// top is the PID of the uppermost ancestor that still belongs to the same job.
func top(p *proc, byPID map[int]*proc) int {
	for range deepest {
		up := byPID[p.parent]
		if up == nil || up == p || launches(up) {
			return p.pid
		}
		p = up
	}
	return p.pid
}

// roles tells the main processes on some GPUs, by rank, from their workers.
func (v *view) roles(gpus []*gpu) (mains, workers []*proc) {
	byPID := map[int]*proc{}
	for _, p := range v.procs {
		byPID[p.pid] = p
	}
	holders := map[int]bool{}
	for _, p := range v.procs {
		if p.on(gpus) {
			holders[p.pid] = true
		}
	}
	if len(holders) == 0 {
		if p := v.firstOfJob(byPID); p != nil {
			holders[p.pid] = true
		}
	}
	for _, p := range v.procs {
		above := v.holderAbove(p, byPID, holders)
		switch {
		case holders[p.pid] && (!above || ownRank(p, byPID)):
			mains = append(mains, p)
		case above && (p.on(gpus) || !p.on(v.peers)): // else another rank that this one started
			workers = append(workers, p)
		}
	}
	slices.SortFunc(mains, func(a, b *proc) int { return cmp.Or(cmp.Compare(a.last.Rank, b.last.Rank), cmp.Compare(a.pid, b.pid)) })
	return mains, workers
}

// ownRank reports whether a process is another rank than the one that started it. A
// worker has its rank from who started it.
func ownRank(p *proc, byPID map[int]*proc) bool {
	up := byPID[p.parent]
	return up != nil && p.last.WorldSize > 1 && p.last.Rank >= 0 && p.last.Rank != up.last.Rank
}

func (v *view) holderAbove(p *proc, byPID map[int]*proc, holders map[int]bool) bool {
	for range deepest {
		up := byPID[p.parent]
		if up == nil || up == p {
			return false
		}
		if holders[up.pid] {
			return true
		}
		p = up
	}
	return false
}

// firstOfJob is the process that would work with a GPU if one did: the first
// one under the root that only launches nothing.
func (v *view) firstOfJob(byPID map[int]*proc) *proc {
	p := byPID[v.w.Root]
	for range deepest {
		if p == nil || !launches(p) {
			return p
		}
		var child *proc
		for _, q := range v.procs {
			if q.parent == p.pid && q != p && (child == nil || q.life() > child.life()) {
				child = q
			}
		}
		if child == nil {
			return p
		}
		p = child
	}
	return p
}

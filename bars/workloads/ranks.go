package main

import (
	"time"
)

// Ranks meet in collectives: each launches its kernels, and its GPU spins, busy,
// until those of all others have come as far. The time to which each has work is
// in the numbers that they share.

// meet queues compute for seconds of kernels and lets the GPU wait, busy, until
// all n ranks have computed and sent bytes for send seconds.
func (j *job) meet(n int, compute time.Duration, send time.Duration, kib int64) {
	now := time.Now().UnixNano()
	end := max(now, j.g.get(wBusyUntil)) + int64(compute)
	j.g.set(wWorkUntil, end)
	// A kernel that waits spins until the last one comes, at the latest when the
	// next look is due.
	j.g.set(wBusyUntil, end+int64(5*time.Second))
	time.Sleep(time.Duration(end - time.Now().UnixNano()))
	round := j.round + 1
	j.round = round
	j.g.set(wRound, round)
	for i := range n {
		for j.gpus[i].get(wRound) < round && j.goesOn() {
			time.Sleep(time.Millisecond)
		}
	}
	if send > 0 {
		time.Sleep(send)
	}
	j.g.set(wSent, j.g.get(wSent)+kib)
	j.g.set(wBusyUntil, time.Now().UnixNano())
}

func communication(j *job, args []string) error {
	const n = 2
	if err := j.ranks(n, args); err != nil {
		return err
	}
	compute := j.between(0.05, 0.15)
	send := compute * j.between(1, 2)
	rate := j.between(2e6, 3e7) // KiB/s
	for j.goesOn() {
		j.meet(n, about(compute, 0.03), seconds(send), int64(rate*send))
	}
	return nil
}

// straggler is slow on one rank: by its clocks, by its input, or by more work.
func straggler(j *job, args []string) error {
	const n = 3
	if err := j.ranks(n, args); err != nil {
		return err
	}
	compute, slower := j.between(0.08, 0.25), j.between(1.6, 2.6)
	who, why := j.r.IntN(n), j.r.IntN(3)
	if who == j.rank && why == 0 {
		j.g.set(wClock, int64(topClock/slower))
		// Power goes with the clock and the square of the voltage.
		j.g.set(wPower, int64(float64(j.g.get(wPower))/slower/1.3))
		j.g.set(wReasons, 0x20)
	}
	for j.goesOn() {
		mine := compute
		if who == j.rank {
			switch why {
			case 1:
				burn(about(compute*(slower-1), 0.05))
			default:
				mine *= slower
			}
		}
		j.meet(n, about(mine, 0.03), 0, 50_000)
	}
	return nil
}

// hung is a collective that one rank never joins.
func hung(j *job, args []string) error {
	if err := j.ranks(2, args); err != nil {
		return err
	}
	j.g.set(wSpin, int64(j.between(0.13, 0.3)*limit))
	j.g.set(wBusyUntil, j.end.UnixNano())
	time.Sleep(time.Until(j.end))
	return nil
}

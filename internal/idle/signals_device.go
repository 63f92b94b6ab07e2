package idle

import (
	"fmt"
	"math"

	"github.com/plimsoll-dev/plimsoll/series"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// percent is a share in words.
func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// size is an amount of memory in words.
func size(b float64) string { return unit.Bytes(b).String() }

// Limits of device signals.
const (
	// lowPower is the share of its limit under which a GPU that runs kernels
	// does little in them (reference: "power < 50 %").
	lowPower = 0.5
	// modestPower is the same for a GPU that waits for others in a part of its
	// kernels and computes in the rest.
	modestPower = 0.6
	// idlePower is the least that boards draw of their limit with a context and
	// no kernel.
	idlePower = 0.1
	// nearIdlePower is the share of its limit that a GPU draws with kernels
	// that only wait: boards idle at 5 to 20 % of their limit, and clocks stay
	// up while a kernel spins, which adds some.
	nearIdlePower = 0.4
	// fewSMs is the SM activity per busy time under which most of the GPU is
	// empty while a kernel runs.
	fewSMs = 0.5
	// lowClock is the share of the maximum that counts as lowered: the
	// catalogue's 90 %.
	lowClock = 0.9
	// mostSamples is how many of the samples of work must show a state that
	// is said of all of the work.
	mostSamples = 0.6
	// fullMemory is the share of memory from which it is called full.
	fullMemory = 0.9
	// smallMemory is what a CUDA context with its libraries takes, rounded
	// up: with less, nothing else is on the device.
	smallMemory = 1 << 30
	// starvedShare is the idle share of a job that is starved (reference:
	// "busy share < 70 %").
	starvedShare = 0.3
	// longGap is how long a gap must be to be a stall: steps are shorter than
	// a second or two, and a stall is seen as zero by several samples.
	longGap = 0.8
	// stalled is the share of the idle time that must lie in stalls.
	stalled = 0.6
	// fastCopy is a rate over PCIe that only a copy of data reaches; launching
	// kernels and reading counters takes kilobytes to a few megabytes.
	fastCopy = 200e6
)

var deviceSignals = []Signal{
	{"idle", OfDevice, "utilisation", "no kernel ran for a tenth of the time or more", "", askIdle},
	{"no-work", OfDevice, "utilisation", "no kernel ran at all", "", askNoWork},
	{"all-busy", OfDevice, "utilisation", "a kernel ran nearly all the time on every GPU", "", askAllBusy},
	{"launch-gaps", OfDevice, "utilisation", "no kernel ran for a twentieth of the time or more", "", askLaunchGaps},
	{"stalls", OfDevice, "utilisation", "the idle time lies in long gaps between stretches of work", "", askStalls},
	{"short-gaps", OfDevice, "utilisation", "the idle time lies in many short gaps", "", askShortGaps},
	{"low-power", OfDevice, "power", "little power is drawn while kernels run", "read power and its limit", askLowPower},
	{"modest-power", OfDevice, "power", "less power is drawn while kernels run than by GPUs that compute all the time", "read power and its limit", askModestPower},
	{"flat-power", OfDevice, "power", "power is near that of an idle GPU and does not change", "read power and its limit", askFlatPower},
	{"few-sms", OfDevice, "SM activity", "most multiprocessors are empty while kernels run", "read SM activity (GPM on Hopper and newer, DCGM field 1002)", askFewSMs},
	{"full-sms", OfDevice, "SM activity", "most multiprocessors have work while kernels run", "", askFullSMs},
	{"memory-works", OfDevice, "traffic of device memory", "device memory is read or written for half of the time in which kernels run, or more", "", askMemoryWorks},
	{"clock-low", OfDevice, "clock", "clocks are below nine tenths of their maximum while kernels run", "read the SM clock and its maximum", askClockLow},
	{"says-power", OfDevice, "clock reasons", "the driver says that clocks are lowered to keep the power limit", "read the clock event reasons", saysReason(func(m series.ThrottleReason, _ bool) bool { return m&series.SoftwarePowerCap != 0 }, series.ThrottlePower, "the power limit")},
	{"says-brake", OfDevice, "clock reasons", "the driver says that clocks are lowered by a power brake, or lowers them at a temperature far from its limit", "read the clock event reasons", saysReason(brakes, 0, "a power brake")},
	{"says-heat", OfDevice, "clock reasons", "the driver says that clocks are lowered since the chip is hot", "read the clock event reasons", saysReason(heats, series.ThrottleThermal, "heat")},
	{"says-setting", OfDevice, "clock reasons", "the driver says that clocks are set low, or gives no reason", "read the clock event reasons", askSaysSetting},
	{"memory-full", OfDevice, "device memory", "nine tenths of the memory or more are taken", "", askMemoryFull},
	{"memory-small", OfDevice, "device memory", "no more than a CUDA context is on the device", "", askMemorySmall},
	{"memory-held", OfDevice, "device memory", "memory is held, and not all of it", "", askMemoryHeld},
	{"starved", OfDevice, "utilisation", "no kernel ran for three tenths of the time or more", "", askStarved},
	{"power-dips", OfDevice, "power", "power falls for a part of the time while kernels run", "read power and its limit", askPowerDips},
	{"odd-power", OfDevice, "power", "one GPU draws more or less power at work than all the others, which agree", "read the power of every GPU", askOdd("draws %s of its power limit at work, the others %s", powerShare)},
	{"odd-sms", OfDevice, "SM activity", "one GPU has more or fewer multiprocessors at work than all the others, which agree", "read the SM activity of every GPU", askOdd("has %s of its multiprocessors at work, the others %s", smShare)},
	{"odd-clock", OfDevice, "clock", "one GPU has another clock at work than all the others, which agree", "read the clock of every GPU", askOdd("has its clock at %s of the maximum at work, the others at %s", clockShare)},
	{"odd-busy", OfDevice, "utilisation", "kernels run less on one GPU than on all the others, which are busy", "", askOddBusy},
	{"others-busy", OfDevice, "utilisation", "kernels run nearly all the time on all GPUs but one", "", askOthersBusy},
	{"traffic", OfDevice, "links", "much data goes over NVLink, PCIe or the network", "read NVLink and PCIe traffic", askTraffic},
	{"no-traffic", OfDevice, "links", "hardly any data goes over NVLink and PCIe", "read NVLink and PCIe traffic", askNoTraffic},
	{"no-copies", OfDevice, "PCIe traffic", "hardly any data is copied to the GPU", "", askNoCopies},
	{"level-shift", OfDevice, "device memory", "the job works at two levels of memory, in stretches of some seconds", "read device memory", askLevels},
	{"other-shift", OfDevice, "SM activity, traffic or the number of workers", "multiprocessors at work, traffic or the number of workers change with the power, in stretches of some seconds", "read SM activity (GPM on Hopper and newer, DCGM field 1002)", askOtherLevels},
	{"power-shift", OfDevice, "power", "power at work differs between two levels of memory, or changes and comes back in stretches of some seconds", "read power and its limit", askPowerLevels},
	{"copies-in-gaps", OfDevice, "PCIe traffic", "data is copied to the GPU while no kernel runs", "read PCIe traffic", askCopies},
	{"link-narrow", OfDevice, "PCIe link", "the PCIe link has fewer lanes, or is of an older generation, than it could be, while kernels run", "read the PCIe link while kernels run", askLink},
}

func askIdle(v *view) (State, string) {
	idle, ok := v.idleShare()
	if !ok {
		return Unknown, ""
	}
	half := 0.5 / float64(max(1, v.train.count(len(v.times)))) // of a sample, which chance may add
	return judge(idle >= leastLoss+half, fmt.Sprintf("no kernel ran for %s of the time", percent(idle)))
}

func askNoWork(v *view) (State, string) {
	top, ok := v.busy().quantile(v.train, 1)
	if !ok {
		return Unknown, ""
	}
	return judge(top < quiet, fmt.Sprintf("no kernel ran in any of %d samples", v.train.count(len(v.times))))
}

func askAllBusy(v *view) (State, string) {
	least := math.Inf(1)
	for _, g := range v.peers {
		b, ok := g.of(series.Busy).mean(v.train)
		if !ok {
			return Unknown, ""
		}
		least = min(least, b)
	}
	return judge(len(v.peers) > 0 && least >= 1-leastLoss, fmt.Sprintf("a kernel ran for at least %s of the time on each GPU", percent(least)))
}

// stallTime is the idle time in gaps of at least longGap, all of it in gaps, and
// how many of the long ones there are. With few samples in a second some follow
// each other in gaps by chance: long gaps count only where gaps are fewer than
// half of what chance makes of as many samples.
func (v *view) stallTime() (long, all float64, n int) {
	gaps := v.gaps()
	in := 0
	for _, s := range gaps {
		in += s.to - s.from + 1
	}
	total := float64(v.train.count(len(v.times)))
	clustered := float64(len(gaps)) < 0.5*float64(in)*(1-float64(in)/total)
	for _, s := range gaps {
		d := v.seconds(s)
		all += d
		if clustered && d >= longGap && s.to > s.from {
			long += d
			n++
		}
	}
	return long, all, n
}

// stalls says whether the idle time lies in long gaps.
func (v *view) stalls() bool {
	long, all, _ := v.stallTime()
	return all > 0 && long >= stalled*all
}

func askStalls(v *view) (State, string) {
	if _, ok := v.busy().mean(v.train); !ok {
		return Unknown, ""
	}
	long, _, n := v.stallTime()
	return judge(v.stalls(), fmt.Sprintf("%d gaps of %.1f s together", n, long))
}

func askShortGaps(v *view) (State, string) {
	idle, ok := v.idleShare()
	if !ok {
		return Unknown, ""
	}
	return judge(idle >= leastLoss && !v.stalls() && v.gapLength() < longGap, fmt.Sprintf("gaps of less than %.1f s each make up the idle time", longGap))
}

// driverPeriod is over what utilisation is averaged at least (nvml.h: a sixth of a
// second, or one).
const driverPeriod = 1.0 / 6

// gapLength is the least that a gap lasts in the mean, in seconds, also where samples lie
// further apart than that. A sample that the driver averaged over an edge lies between
// gap and work, so that their share tells how many edges there are; a driver with a
// longer period shows more.
func (v *view) gapLength() float64 {
	low, ok := v.busy().quantile(v.train, 0)
	high, _ := v.busy().quantile(v.train, 1)
	if !ok || high-low < waveHeight {
		return 0
	}
	const margin = 0.1 // of the swing, at both levels
	edges := v.room.where(v.busy(), v.train, func(b float64) bool {
		return b > low+margin*(high-low) && b < high-margin*(high-low)
	})
	idle, _ := v.idleShare()
	perSecond := edges.sum() / v.train.sum() / (driverPeriod * (1 - 2*margin))
	return idle / (perSecond / 2)
}

// atWork is the mean of a line over the samples in which each GPU worked.
func (v *view) atWork(of func(*gpu) line) (float64, bool) {
	sum, n := 0.0, 0
	for _, g := range v.gpus {
		if x, ok := of(g).mean(g.working()); ok {
			sum += x
			n++
		}
	}
	if n == 0 {
		return 0, false
	}
	return sum / float64(n), true
}

func powerShare(g *gpu) line { return g.ratio(series.Power, series.PowerLimit) }

// powerAtWork is the power of the GPUs while kernels run. Sensors average over up
// to a second, so that gaps shorter than that lower what they show at work;
// then it is what is left of the mean without what an idle GPU draws.
func (v *view) powerAtWork() (float64, bool) {
	direct, ok := v.atWork(powerShare)
	all, known := v.over(powerShare).mean(v.train)
	busy, _ := v.busy().mean(v.train)
	if !known || busy < quiet {
		return direct, ok
	}
	return max(direct, (all-idlePower*(1-busy))/busy), true
}

func askLowPower(v *view) (State, string) {
	p, ok := v.powerAtWork()
	if !ok {
		return Unknown, ""
	}
	return judge(p < lowPower, fmt.Sprintf("%s of the power limit is drawn while kernels run", percent(p)))
}

func askModestPower(v *view) (State, string) {
	p, ok := v.powerAtWork()
	if !ok {
		return Unknown, ""
	}
	return judge(p < modestPower, fmt.Sprintf("%s of the power limit is drawn while kernels run", percent(p)))
}

// steady is the spread of power, p90 to p10 as a share of the limit, below which
// it does not change: sensors read to a watt, and steps swing by tens.
const steady = 0.05

func askFlatPower(v *view) (State, string) {
	least := math.Inf(1)
	most, spread := 0.0, 0.0
	for _, g := range v.peers {
		p := powerShare(g)
		lo, ok := p.quantile(v.train, 0.1)
		if !ok {
			return Unknown, ""
		}
		hi, _ := p.quantile(v.train, 0.9)
		least, most, spread = min(least, lo), max(most, hi), max(spread, hi-lo)
	}
	return judge(len(v.peers) > 0 && most < nearIdlePower && spread < steady,
		fmt.Sprintf("power stays between %s and %s of the limit", percent(least), percent(most)))
}

func smShare(g *gpu) line { return g.ratio(series.SMActive, series.Busy) }

// perWork is what a counter shows of each second in which a kernel ran, where without
// one it shows nothing. The totals are compared and not sample by sample: profiles
// cover the time since the sample before, utilisation the driver's last period.
func (v *view) perWork(c series.Counter) (float64, bool) {
	sum, n := 0.0, 0
	for _, g := range v.gpus {
		of, busy := g.of(c), g.of(series.Busy)
		both := v.room.where(of, v.room.where(busy, v.train, known), known)
		x, ok := of.mean(both)
		if b, _ := busy.mean(both); ok && b >= quiet {
			sum += min(1, x/b)
			n++
		}
	}
	return sum / float64(max(n, 1)), n > 0
}

func known(float64) bool { return true }

func askFewSMs(v *view) (State, string) {
	s, ok := v.perWork(series.SMActive)
	if !ok {
		return Unknown, ""
	}
	return judge(s < fewSMs, fmt.Sprintf("%s of the multiprocessors have work while a kernel runs", percent(s)))
}

func askFullSMs(v *view) (State, string) {
	s, ok := v.perWork(series.SMActive)
	if !ok {
		return Unknown, ""
	}
	return judge(s >= fewSMs, fmt.Sprintf("%s of the multiprocessors have work while a kernel runs", percent(s)))
}

func clockShare(g *gpu) line { return g.ratio(series.ClockSM, series.ClockSMMax) }

func askClockLow(v *view) (State, string) {
	c, ok := v.atWork(clockShare)
	if !ok {
		return Unknown, ""
	}
	return judge(c < lowClock, fmt.Sprintf("the SM clock is at %s of its maximum while kernels run", percent(c)))
}

// A reason says whether a mask gives it; cool is whether the chip is known to be far
// from the temperature at which it slows down.
type reason func(m series.ThrottleReason, cool bool) bool

// heats and brakes part what nvml.h calls a hardware slowdown, which is any of heat, a
// power brake and too high a draw: its two other bits decide, and where neither is set
// the temperature does.
func heats(m series.ThrottleReason, cool bool) bool {
	return m&(series.SoftwareThermal|series.HardwareThermal) != 0 || m&series.HardwareSlowdown != 0 && m&series.PowerBrake == 0 && !cool
}

func brakes(m series.ThrottleReason, cool bool) bool {
	return m&series.PowerBrake != 0 || m&series.HardwareSlowdown != 0 && !heats(m, cool)
}

func setLow(m series.ThrottleReason, _ bool) bool {
	return m&(series.ApplicationClocks|series.SyncBoost|series.DisplayClocks) != 0
}

func otherThanSet(m series.ThrottleReason, cool bool) bool {
	return m&(series.SoftwarePowerCap|series.GPUIdle) != 0 || heats(m, cool) || brakes(m, cool)
}

// saysReason is the share of the slow work for which the driver gives a reason, by the
// state that was sampled or by its counter of lost time, 0 for none.
func saysReason(is reason, lost series.Counter, words string) func(*view) (State, string) {
	return func(v *view) (State, string) {
		share, ok := v.whileSlow(func(g *gpu) line { return flagged(g, is) })
		slow, counted := 0.0, false
		if lost != 0 {
			slow, counted = v.whileSlow(func(g *gpu) line { return g.of(lost) })
		}
		if !ok && !counted {
			return Unknown, ""
		}
		if slow > share {
			return judge(slow >= mostSamples, fmt.Sprintf("the driver counts %s of the time with lowered clocks as lost to %s", percent(slow), words))
		}
		return judge(share >= mostSamples, fmt.Sprintf("the driver gives %s as the reason in %s of the samples with lowered clocks", words, percent(share)))
	}
}

// whileSlow is the mean of a line over the samples of work in which clocks were
// lowered, of all GPUs together: heat may come and go, and on one of several.
func (v *view) whileSlow(of func(*gpu) line) (float64, bool) {
	sum, weight := 0.0, 0.0
	for _, g := range v.gpus {
		slow := v.room.where(clockShare(g), g.working(), func(c float64) bool { return c < lowClock })
		if x, ok := of(g).mean(slow); ok {
			sum += x * slow.sum()
			weight += slow.sum()
		}
	}
	if weight == 0 {
		return v.atWork(of) // no clock is known, or none is low
	}
	return sum / weight, true
}

// coolBy is how far below the temperature at which a chip slows down it is surely not
// heat that slows it: sensors are read up to a second late, and hysteresis is smaller.
const coolBy = 10

// flagged is 1 where the driver gives a reason.
func flagged(g *gpu, is reason) line {
	out := g.v.room.line(len(g.v.times))
	at, limit := g.of(series.Temperature), g.of(series.TemperatureLimit)
	for i, m := range g.of(series.ThrottleReasons) {
		switch {
		case math.IsNaN(m):
		case is(series.ThrottleReason(m), at[i] < limit[i]-coolBy):
			out[i] = 1
		default:
			out[i] = 0
		}
	}
	return out
}

// memoryWorks is the share of the work in which device memory moves data from which
// kernels do much: it is what they wait for, not their launch.
const memoryWorks = 0.5

// askMemoryWorks takes the finer counter where there is one.
func askMemoryWorks(v *view) (State, string) {
	s, ok := v.perWork(series.DRAMActive)
	if !ok {
		s, ok = v.perWork(series.MemoryBusy)
	}
	if !ok {
		return Unknown, ""
	}
	return judge(s >= memoryWorks, fmt.Sprintf("device memory moves data for %s of the time in which kernels run", percent(s)))
}

// launchGaps is the idle share from which launches are waited for: a GPU whose kernels
// are launched as fast as it runs them has none (reference: "util 60-95 %").
const launchGaps = 0.05

func askLaunchGaps(v *view) (State, string) {
	idle, ok := v.idleShare()
	if !ok {
		return Unknown, ""
	}
	return judge(idle >= launchGaps, fmt.Sprintf("no kernel ran for %s of the time", percent(idle)))
}

func askSaysSetting(v *view) (State, string) {
	share, ok := v.whileSlow(func(g *gpu) line { return flagged(g, otherThanSet) })
	if !ok {
		return Unknown, ""
	}
	set, _ := v.whileSlow(func(g *gpu) line { return flagged(g, setLow) })
	return judge(share <= 1-mostSamples, fmt.Sprintf("the driver gives a setting as the reason in %s of the samples with lowered clocks, and power or heat in %s", percent(set), percent(share)))
}

func (v *view) memory() (used, total float64, ok bool) {
	used, ok = v.over(func(g *gpu) line { return g.of(series.MemoryUsed) }).quantile(v.train, 0.5)
	total, _ = v.over(func(g *gpu) line { return g.of(series.MemoryTotal) }).quantile(v.train, 0.5)
	return used, total, ok
}

func askMemoryFull(v *view) (State, string) {
	used, total, ok := v.memory()
	if !ok || total <= 0 {
		return Unknown, ""
	}
	return judge(used >= fullMemory*total, fmt.Sprintf("%s of %s are taken", size(used), size(total)))
}

func askMemorySmall(v *view) (State, string) {
	used, _, ok := v.memory()
	if !ok {
		return Unknown, ""
	}
	return judge(used < smallMemory, fmt.Sprintf("%s are taken on the GPU", size(used)))
}

func askMemoryHeld(v *view) (State, string) {
	used, total, ok := v.memory()
	if !ok || total <= 0 {
		return Unknown, ""
	}
	return judge(used >= 16<<20 && used < fullMemory*total, fmt.Sprintf("%s of %s are taken", size(used), size(total)))
}

// slowCopy is a rate of copies that no link is slower than: from memory that is
// not pinned, through the oldest links in use.
const slowCopy = 500e6

func askCopies(v *view) (State, string) {
	rx, all, ok := v.received()
	if !ok {
		return Unknown, ""
	}
	if v.stalls() {
		in, _ := rx.mean(v.low())
		out, _ := rx.mean(v.high())
		return judge(in >= fastCopy && in >= 2*out, fmt.Sprintf("the GPU received %s/s in gaps and %s/s at work", size(in), size(out)))
	}
	// Gaps are as short as the samples: copies can be what they are of only if
	// as many bytes went over as take that long.
	idle, _ := v.idleShare()
	return judge(all >= max(fastCopy, slowCopy*idle), fmt.Sprintf("the GPU received %s/s, which takes as long as the gaps", size(all)))
}

func askLink(v *view) (State, string) {
	width, wok := v.atWork(func(g *gpu) line { return g.ratio(series.PCIeWidth, series.PCIeWidthMax) })
	gen, gok := v.atWork(func(g *gpu) line { return g.ratio(series.PCIeGeneration, series.PCIeGenerationMax) })
	if !wok && !gok {
		return Unknown, ""
	}
	// A generation of half the number is an eighth of the rate; one less is half.
	narrow := wok && width < 0.99 || gok && gen < 0.99
	return judge(narrow, fmt.Sprintf("the link has %s of its lanes and is of generation %s of what it could be while kernels run", orUnknown(width, wok), orUnknown(gen, gok)))
}

func orUnknown(share float64, ok bool) string {
	if !ok {
		return "an unknown share"
	}
	return percent(share)
}

func askStarved(v *view) (State, string) {
	idle, ok := v.idleShare()
	if !ok {
		return Unknown, ""
	}
	return judge(idle >= starvedShare, fmt.Sprintf("no kernel ran for %s of the time", percent(idle)))
}

// powerDips is the share of the work in which power is a third or more below what
// the same GPU draws in the rest of it.
func (v *view) powerDips() (float64, bool) {
	return v.atWork(func(g *gpu) line {
		p := powerShare(g)
		top, _ := p.quantile(g.working(), 0.9)
		out := v.room.line(len(p))
		for i, x := range p {
			if !math.IsNaN(x) {
				out[i] = 0
				if x < 2*top/3 {
					out[i] = 1
				}
			}
		}
		return out
	})
}

// askPowerDips sees kernels that wait for others.
func askPowerDips(v *view) (State, string) {
	share, ok := v.powerDips()
	if !ok {
		return Unknown, ""
	}
	return judge(share >= leastLoss, fmt.Sprintf("power is a third lower than at other times in %s of the samples of work", percent(share)))
}

func askTraffic(v *view) (State, string) {
	rate, ok := v.traffic()
	if !ok {
		return Unknown, ""
	}
	return judge(rate >= fastCopy, fmt.Sprintf("%s/s go over links between GPUs", size(rate)))
}

func askNoTraffic(v *view) (State, string) {
	rate, ok := v.traffic()
	if !ok {
		return Unknown, ""
	}
	return judge(rate < fastCopy/20, fmt.Sprintf("%s/s go over links between GPUs", size(rate)))
}

// traffic is the mean of what a GPU sends and receives, or the host's network
// does for each of its GPUs.
func (v *view) traffic() (float64, bool) {
	most, any := 0.0, false
	for _, c := range []series.Counter{series.NVLinkSent, series.NVLinkReceived, series.PCIeSent, series.PCIeReceived} {
		if x, ok := v.over(func(g *gpu) line { return g.of(c) }).mean(v.train); ok {
			most, any = max(most, x), true
		}
	}
	if x, ok := v.host.of(series.HostNetSent).mean(v.train); ok && any && len(v.peers) > 0 {
		most = max(most, x/float64(len(v.peers)))
	}
	return most, any
}

// received is what the GPUs receive over PCIe. Kernels cannot be launched without
// a byte: a counter that stays at 0 while they run does not count.
func (v *view) received() (line, float64, bool) {
	rx := v.over(func(g *gpu) line { return g.of(series.PCIeReceived) })
	mean, ok := rx.mean(v.train)
	busy, _ := v.busy().mean(v.train)
	return rx, mean, ok && (mean > 0 || busy < quiet)
}

// askNoCopies sees that what is received would not be a copy if it came in the gaps alone.
func askNoCopies(v *view) (State, string) {
	_, rx, ok := v.received()
	idle, known := v.idleShare()
	if !ok || !known {
		return Unknown, ""
	}
	return judge(rx < fastCopy*idle, fmt.Sprintf("the GPU receives %s/s over PCIe", size(rx)))
}

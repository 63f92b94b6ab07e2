package tui

import (
	"context"
	"fmt"
	"io"
	"math"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/finding"
	"github.com/plimsoll-dev/plimsoll/internal/idle"
	"github.com/plimsoll-dev/plimsoll/internal/watch"
	"github.com/plimsoll-dev/plimsoll/series"
)

const gib = 1 << 30

// A scene is a machine that a test plays: what each GPU does, and how many
// processes there are beside those.
type scene struct {
	name      string
	gpus      []act
	processes int
}

// An act is what a GPU does at a second of the scene.
type act func(d *series.Device, t float64)

func set(d *series.Device, values map[series.Counter]float64) {
	for c, v := range values {
		d.Values.Set(c, series.Of(v))
	}
}

// card sets what all H100 of the scenes have.
func card(d *series.Device, used, busy, power, temperature, clock float64) {
	set(d, map[series.Counter]float64{
		series.MemoryTotal: 79.6 * gib, series.MemoryReserved: 0.5 * gib, series.MemoryUsed: used * gib, series.MemoryFree: (79.1 - used) * gib,
		series.Busy: busy, series.Power: power, series.PowerLimit: 700, series.Temperature: temperature, series.TemperatureLimit: 87,
		series.ClockSM: clock * 1e6, series.ClockSMMax: 1980e6, series.SMActive: 0.85 * busy, series.TensorActive: 0.4 * busy, series.PCIeReceived: busy * gib,
	})
}

func wave(t, period, share float64) float64 {
	if math.Mod(t, period) < period*share {
		return 1
	}
	return 0
}

func trains(d *series.Device, t float64) {
	card(d, 68.4, 0.96+0.03*math.Sin(t*1.7), 640+25*math.Sin(t/3), 64, 1965)
}

func starves(d *series.Device, t float64) {
	busy := 0.97 * wave(t, 5, 0.4)
	card(d, 31.2, busy, 130+380*busy, 46, 1980)
}

func grows(d *series.Device, t float64) {
	card(d, 58+0.055*t, 0.9+0.06*math.Sin(t), 590+30*math.Sin(t/5), 66, 1950)
}

func hot(d *series.Device, t float64) {
	card(d, 68.4, 0.99, 450+12*math.Sin(t), 88, 1230)
	d.Values.Set(series.ThrottleReasons, series.Of(float64(series.HardwareThermal|series.HardwareSlowdown)))
	d.Values.Set(series.ThrottleThermal, series.Of(0.4*t))
}

func hangs(d *series.Device, t float64) {
	card(d, 68.4, 0.97, 633, 61, 1965)
	d.Status, d.StaleFor, d.Problem = series.Stuck, time.Duration(t+14)*time.Second, "the driver did not answer in 800 ms"
}

func gone(d *series.Device, _ float64) {
	d.Status, d.Problem = series.Lost, "XID 79: it fell off the bus"
	for _, row := range series.Counters(series.ScopeDevice) {
		d.Values.Set(row.Counter, series.Without(series.Lost))
	}
}

func free(d *series.Device, _ float64) { card(d, 0.4, 0, 71, 31, 345) }

func cut(d *series.Device, _ float64) {
	card(d, 28, 0, 320, 52, 1980)
	d.MIG = "on"
	d.Values.Set(series.Busy, series.Without(series.NotSupported))
}

// whole is the scene in which everything goes on.
var wholeScene = scene{"gpu-node-7", []act{trains, starves, grows, hot, hangs, gone, cut, free}, 40}

// at plays the scene at a second.
func (sc scene) at(t float64) series.Sample {
	s := series.Sample{
		Wall: time.Date(2026, 11, 30, 14, 0, 0, 0, time.UTC).Add(time.Duration(t * float64(time.Second))), Since: time.Duration(t * float64(time.Second)),
		Host: series.Host{Name: sc.name, Driver: "570.86.15", CUDA: "12.8"},
	}
	for c, v := range map[series.Counter]float64{
		series.HostCPUs: 64, series.HostCPUTime: (14 + 3*math.Sin(t/9)) * t, series.HostMemoryTotal: 1007 * gib, series.HostMemoryAvailable: 842 * gib,
		series.HostPressureIO: 0.031 * t, series.HostDiskRead: 210e6 * t, series.HostDiskWritten: 3e6 * t, series.HostSharedTotal: 503 * gib, series.HostSharedUsed: 9 * gib,
		series.HostNetReceived: 12e6 * t,
	} {
		s.Host.Values.Set(c, series.Of(v))
	}
	for i, act := range sc.gpus {
		d := series.Device{ID: fmt.Sprintf("GPU-%d", i), Index: i, Name: "NVIDIA H100 80GB HBM3", Vendor: "nvidia", Status: series.OK, Minor: i}
		act(&d, t)
		s.Devices = append(s.Devices, d)
		if d.MIG == "on" {
			for k, profile := range []string{"3g.40gb", "2g.20gb"} {
				in := series.Device{ID: fmt.Sprintf("MIG-%d-%d", i, k), Index: k, Parent: d.ID, Name: d.Name + " MIG " + profile, MIG: profile, Status: series.OK}
				set(&in, map[series.Counter]float64{series.MemoryTotal: float64(40-20*k) * gib, series.MemoryUsed: float64(22-16*k) * gib})
				if k == 0 {
					in.Values.Set(series.SMActive, series.Of(0.7))
				}
				s.Devices = append(s.Devices, in)
			}
		}
	}
	sc.addProcesses(&s, t)
	return s
}

func (sc scene) addProcesses(s *series.Sample, t float64) {
	users := []string{"ada", "bob", "eve", "张伟"}
	commands := []string{"python train.py --config llama8b.yaml --api-key ***", "python finetune.py --data /data/images --workers 4", "python -m ipykernel_launcher -f kernel.json", "python 训练.py --数据集 中文语料 --学习率 3e-4"}
	for i, d := range s.Devices {
		if d.Status == series.Lost || d.MIG == "on" {
			continue
		}
		used, _ := d.Values.Get(series.MemoryUsed).Get()
		busy := d.Values.Get(series.Busy)
		if used < gib {
			continue
		}
		p := worker(4_194_000+i, 1, users[i%len(users)], commands[i%len(commands)], 1.02*t)
		p.Job = []string{"slurm:48211", "", "k8s:ml/eve-0", ""}[i%4]
		u := series.Use{Device: d.ID, Kind: series.Compute}
		u.Values.Set(series.UseMemory, series.Of(used-0.5*gib))
		u.Values.Set(series.UseBusy, busy)
		p.Uses = []series.Use{u}
		s.Processes = append(s.Processes, p)
		for k := range 4 {
			s.Processes = append(s.Processes, worker(100_000+10*i+k, p.PID, p.User, "pt_data_worker", []float64{0.55, 0.985, 0.41, 0.2}[i%4]*t))
		}
	}
	if len(s.Devices) == 0 {
		return
	}
	lost := series.Process{PID: 77, Status: series.Lost, Rank: -1}
	u := series.Use{Device: s.Devices[0].ID, Kind: series.Compute}
	u.Values.Set(series.UseMemory, series.Without(series.NoPermission))
	lost.Uses = []series.Use{u}
	s.Processes = append(s.Processes, lost)
	for i := range sc.processes {
		p := worker(20_000+i, 1, users[i%len(users)], fmt.Sprintf("python sweep.py --seed %d", i), 0.3*t)
		u := series.Use{Device: s.Devices[i%len(sc.gpus)].ID, Kind: series.Compute}
		u.Values.Set(series.UseMemory, series.Of(float64(i+1)*gib/100))
		p.Uses = []series.Use{u}
		s.Processes = append(s.Processes, p)
	}
}

func worker(pid, parent int, user, command string, cpu float64) series.Process {
	p := series.Process{PID: pid, Parent: parent, Started: uint64(pid), Status: series.OK, User: user, Name: "python", Command: command, State: "S", Rank: -1}
	for c, v := range map[series.Counter]float64{
		series.CPUTime: cpu, series.CPUWait: cpu / 100, series.Resident: 5.6 * gib, series.SharedMemory: gib, series.Threads: 61, series.MajorFaults: 12,
		series.BytesRead: 20e6 * cpu, series.BytesWritten: 2e4 * cpu, series.DiskWait: 0,
	} {
		p.Values.Set(c, series.Of(v))
	}
	return p
}

// A script is a Feed that a test plays by hand.
type script struct{ samples []series.Sample }

func (s *script) Next(context.Context) (series.Sample, error) {
	if len(s.samples) == 0 {
		return series.Sample{}, io.EOF
	}
	next := s.samples[0]
	s.samples = s.samples[1:]
	return next, nil
}

// played is a screen of a size after so many seconds of a scene, judged.
func played(t testing.TB, sc scene, width, height int, seconds float64, change func(*Options)) *Model {
	t.Helper()
	o := Options{Feed: &script{}, Mouse: true}
	if change != nil {
		change(&o)
	}
	m, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	m.Update(Size{Width: width, Height: height})
	for at := 0.0; at <= seconds; at++ {
		m.judging = true // once, at the end
		m.Update(sampled{sc.at(at + 0.2*math.Sin(at)), nil})
	}
	if seconds > 0 {
		m.judgeNow()
	}
	return m
}

// judgeNow judges as the command does that a sample starts, with sentences of its
// own: what package idle says is not what is tested here.
func (m *Model) judgeNow() {
	all := m.judgement()()
	for name := range all {
		speak(all[name])
	}
	m.Update(all)
}

// speak puts sentences into judgements.
func speak(all map[string]watch.Judgement) {
	for id, j := range all {
		j.Idle = idle.Answer{Verdict: "Not sure: no kernel ran for 100 % of the time.", Unsure: []idle.Question{{Measure: "look at it once more"}}}
		switch id {
		case "GPU-0", "GPU-2", "GPU-3", "GPU-4":
			j.Idle = idle.Answer{Verdict: "The GPU is used: kernels ran for 97 % of the time.", Healthy: true}
		case "GPU-1":
			gain := 0.6
			j.Idle = idle.Answer{Verdict: "The GPU waits for data that too few workers prepare: 60 % of the time.", Findings: []finding.Finding{{
				Cause: "few-workers", Remedies: []finding.Remedy{{Action: "start more workers, up to the processors that the job may take", Gain: &gain}},
			}}}
		}
		all[id] = j
	}
}

// A channel is a Feed whose samples a test sends; it ends when that is closed.
type channel chan series.Sample

func (c channel) Next(context.Context) (series.Sample, error) {
	s, ok := <-c
	if !ok {
		return s, io.EOF
	}
	return s, nil
}

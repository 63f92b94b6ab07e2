package cli

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-dev/plimsoll/finding"
	"github.com/plimsoll-dev/plimsoll/internal/diagnose"
	"github.com/plimsoll-dev/plimsoll/internal/format/oomlog"
	"github.com/plimsoll-dev/plimsoll/internal/history"
	"github.com/plimsoll-dev/plimsoll/internal/idle"
	"github.com/plimsoll-dev/plimsoll/internal/idle/period"
	"github.com/plimsoll-dev/plimsoll/internal/job"
	"github.com/plimsoll-dev/plimsoll/internal/launch"
	"github.com/plimsoll-dev/plimsoll/internal/monitor"
	"github.com/plimsoll-dev/plimsoll/internal/monitor/proc"
	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/internal/words"
	"github.com/plimsoll-dev/plimsoll/series"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A runDocument is the JSON of the command.
type runDocument struct {
	Schema   string            `json:"schema"` // plimsoll.run/1
	Command  []string          `json:"command"`
	Exit     int               `json:"exit_code"`
	Signal   string            `json:"signal,omitempty"` // that killed it
	From     time.Time         `json:"from"`
	Seconds  float64           `json:"seconds"`
	CPU      float64           `json:"cpu_seconds"`
	Resident *int64            `json:"most_resident_bytes"` // of one process
	Given    []string          `json:"given_gpus"`          // by --gpus; UUIDs
	Samples  int               `json:"samples"`
	Answer   idle.Answer       `json:"answer"`
	Devices  []runDevice       `json:"devices"`
	CPULine  []*float64        `json:"cpu_line"` // share of the processors that it might take
	CPUWidth float64           `json:"cpu_line_step_seconds"`
	OOM      []oomDocument     `json:"oom"` // with --on-oom
	Problems []replayedProblem `json:"problems"`
	Record   string            `json:"recording,omitempty"`
}

// A runDevice is a GPU of the job.
type runDevice struct {
	replayedDevice
	Used bool `json:"used"` // a process of the job was seen on it
}

// report is the answer about the run.
func (r *jobRun) report(ctx context.Context, end launch.End, began time.Time) *report.Report {
	j := r.job
	took := r.stdio.Now().Sub(began)
	j.History.Finish()
	answer := j.Answer()
	if len(j.Used) == 0 && r.taken == nil && len(answer.Findings) == 0 {
		// GPUs of others are not what the command waits for.
		answer.Unsure, answer.Period = nil, period.Answer{Status: period.TooFew}
	}
	doc := &runDocument{
		Schema: "plimsoll.run/1", Command: r.o.Argv, Exit: end.Code, Signal: end.Signal, From: began, Seconds: took.Seconds(), CPU: r.cpu(end).Seconds(),
		Given: []string{}, Answer: answer, Devices: []runDevice{}, OOM: []oomDocument{}, Problems: []replayedProblem{}, Record: r.o.Record,
		CPULine: jsonLine(j.CPU.Line.Means()), CPUWidth: j.CPU.Line.Width.Seconds(),
	}
	if end.MaxResident > 0 {
		doc.Resident = &end.MaxResident
	}
	if r.taken != nil {
		for _, d := range r.taken.Devices {
			doc.Given = append(doc.Given, d.ID)
		}
	}
	rep := &report.Report{Command: "run", Subject: strings.Join(r.o.Argv, " "), Data: doc, Warnings: r.warned}
	rep.Verdict, rep.Reason = r.verdict(&answer, end, took)
	for _, f := range answer.Findings {
		rep.Remedies = append(rep.Remedies, remediesOf(f.Remedies)...)
	}
	rep.Sections = append(rep.Sections, r.facts(&answer, end, took))
	if len(j.History.Hosts) > 0 {
		host := j.History.Hosts[0]
		doc.Samples = host.Samples
		for _, d := range host.Devices {
			doc.Devices = append(doc.Devices, runDevice{newReplayedDevice(host, d), j.Used[d.ID]})
		}
		for _, p := range host.Problems {
			doc.Problems = append(doc.Problems, replayedProblem{p.Source, p.Status.String(), p.What, p.Samples})
		}
		if len(host.Devices) > 0 {
			rep.Sections = append(rep.Sections, devicesTable(host, ""))
		}
		rep.Sections = append(rep.Sections, causesTable(host, "")...)
		rep.Sections = append(rep.Sections, r.charts(host, &answer)...)
		rep.Sections = append(rep.Sections, problemsTable(host, "")...)
		rep.Provenance = append(rep.Provenance, report.Fact{Name: "sampled", Value: fmt.Sprintf("%s %s at random intervals%s", plural(host.Samples, "sample"), r.sampledBy(), r.intervals(took))})
	}
	rep.Sections = append(rep.Sections, findingsSections(&answer)...)
	r.addWarnings(rep, end)
	r.addOOM(ctx, rep, doc)
	return rep
}

// verdict is the answer in a sentence, and why.
func (r *jobRun) verdict(a *idle.Answer, end launch.End, took time.Duration) (report.Verdict, string) {
	v := report.Verdict{Sentence: fmt.Sprintf("%s ended with %d after %s", filepath.Base(r.o.Argv[0]), end.Code, words.About(took))}
	if end.Signal != "" {
		v.Sentence = fmt.Sprintf("%s was ended by %s after %s", filepath.Base(r.o.Argv[0]), end.Signal, words.About(took))
	}
	if a.Period.Status == period.Known {
		v.Sentence += ", a step took " + stepTime(a.Period)
	}
	reason := a.Verdict
	switch {
	case end.Code != 0:
		v.Answer, v.Word = report.No, "failed"
	case r.missing == nil && len(r.job.History.Hosts) == 0:
		v.Answer, v.Word, reason = report.Maybe, "GPUs not read", "The command ended before any GPU answered."
	case !r.job.SawGPU:
		v.Answer, v.Word, reason = report.Maybe, "GPUs not read", "No GPU could be read: "+r.whyUnread()+"."
	case len(r.job.Used) == 0:
		v.Answer, v.Word = report.Maybe, "no GPU used"
		if len(a.Findings) == 0 {
			reason = "No process of the command was seen on a GPU."
		}
	case len(a.Findings) > 0:
		v.Answer, v.Word, reason = report.No, "GPU waits", allCauses(a)
	case a.Healthy:
		v.Answer, v.Word = report.OK, "GPU used"
	default:
		v.Answer, v.Word = report.Maybe, "not sure"
	}
	return v, reason
}

// allCauses is the verdict with the causes after the first one, whose remedies are
// shown, too.
func allCauses(a *idle.Answer) string {
	out := a.Verdict
	for _, f := range a.Findings[1:] {
		out += " Also " + f.Verdict + "."
	}
	return out
}

// sampledBy is what the samples are of, or who read them.
func (r *jobRun) sampledBy() string {
	if r.missing != nil {
		return "of the host alone"
	}
	return "by " + r.source.Name()
}

// intervals is how often samples were taken.
func (r *jobRun) intervals(took time.Duration) string {
	dense := r.dense()
	text := fmt.Sprintf(" of %v on average", r.o.Interval)
	if dense == 0 {
		return text
	}
	begin := fmt.Sprintf(" of %v on average", r.o.Interval/monitor.Denser)
	if took <= dense {
		return begin
	}
	return begin + " in the first minute, then" + text
}

// whyUnread is why no GPU answered.
func (r *jobRun) whyUnread() string {
	if r.missing != nil {
		return r.missing.Error()
	}
	for _, host := range r.job.History.Hosts {
		if len(host.Problems) > 0 {
			return host.Problems[0].What
		}
	}
	return "the driver answers and has none"
}

// stepTime is a period for people.
func stepTime(p period.Answer) string {
	return fmt.Sprintf("%.3g s", p.Seconds)
}

// cpu is the processor time of the command: as the kernel adds it up of processes whose
// end was waited for, or as it was seen, where workers were left to end by themselves.
func (r *jobRun) cpu(end launch.End) time.Duration {
	return max(end.CPU, time.Duration(r.job.CPU.Used*float64(time.Second)))
}

// facts are what is known of the command.
func (r *jobRun) facts(a *idle.Answer, end launch.End, took time.Duration) report.Section {
	s := report.Section{Title: "Run", Facts: []report.Fact{
		{Name: "processor time", Value: fmt.Sprintf("%s, %.1f processors on average", words.About(r.cpu(end)), r.cpu(end).Seconds()/max(took.Seconds(), 1e-3))},
	}}
	if end.MaxResident > 0 {
		s.Facts = append(s.Facts, report.Fact{Name: "most memory of a process", Value: unit.Bytes(end.MaxResident).String()})
	}
	if r.taken != nil {
		var names []string
		for _, d := range r.taken.Devices {
			names = append(names, fmt.Sprintf("GPU %d (%s)", d.Index, d.ID))
		}
		s.Facts = append(s.Facts, report.Fact{Name: "given", Value: strings.Join(names, ", ")})
	}
	s.Facts = append(s.Facts, report.Fact{Name: "step", Value: periodWords(a.Period, r.o.Interval)})
	joules, lost := 0.0, time.Duration(0)
	for _, host := range r.job.History.Hosts {
		for _, d := range host.Devices {
			joules += max(d.Joules, 0)
			for _, n := range d.Judged.Causes {
				lost += n.Lost
			}
		}
	}
	if joules > 0 {
		s.Facts = append(s.Facts, report.Fact{Name: "energy", Value: fmt.Sprintf("%.3g Wh", joules/3600)})
	}
	if lost > 0 {
		s.Facts = append(s.Facts, report.Fact{Name: "lost", Value: words.About(lost) + " of GPU time, by the causes below"})
	}
	if r.o.Record != "" {
		s.Facts = append(s.Facts, report.Fact{Name: "recording", Value: "plimsoll replay " + r.o.Record})
	}
	return s
}

// periodWords says how long a step takes, or why that is not known.
func periodWords(p period.Answer, interval time.Duration) string {
	switch p.Status {
	case period.Known:
		text := fmt.Sprintf("%s (±%.1f %%, seen %.0f times)", stepTime(p), 100*p.Error, p.Cycles)
		if p.Parts > 1 {
			text += fmt.Sprintf(", with %d waves in each, as where steps are accumulated", p.Parts)
		}
		return text
	case period.None:
		return "nothing that repeats was seen"
	case period.TooFast:
		text := "faster than this sampling can see"
		if p.Fastest > 0 {
			text += fmt.Sprintf(", which is %.3g s", p.Fastest)
			if interval > time.Second { // up to that the driver's averages are what hides it
				text += "; --interval 200ms sees more"
			}
		}
		return text
	}
	return "too little was seen to tell"
}

// charts are the timelines: for each GPU how busy it and the command's processors
// were, how full its memory, and how near it came to its power limit.
func (r *jobRun) charts(host *history.Host, a *idle.Answer) []report.Section {
	var out []report.Section
	for _, d := range host.Devices {
		t := r.job.Tracks[d.ID]
		c := &report.Chart{First: host.First.Format("15:04:05"), Last: host.Last.Format("15:04:05")}
		for _, row := range []struct {
			name string
			line *history.Line
		}{{"busy", &t.Busy}, {"memory", &t.Memory}, {"power, of its limit", &t.Power}, {fmt.Sprintf("processors, of %.3g", r.job.CPU.Most), &r.job.CPU.Line}} {
			if len(row.line.Means()) > 1 {
				row.line.Reach(r.job.Lasted) // so that all end together
				c.Lines = append(c.Lines, report.ChartLine{Name: row.name, Shares: row.line.Means()})
			}
		}
		if len(c.Lines) == 0 {
			continue
		}
		if r.job.Whole && a.Shares.Seconds > 0 {
			for _, p := range a.Phases {
				if p.Until > p.From {
					c.Bands = append(c.Bands, report.ChartBand{Name: p.Name, From: p.From / a.Shares.Seconds, To: p.Until / a.Shares.Seconds})
				}
			}
		}
		out = append(out, report.Section{Title: labelOf(host, d) + " over time", Chart: c})
	}
	return out
}

// remediesOf are a finding's remedies for people.
func remediesOf(list []finding.Remedy) []report.Remedy {
	var out []report.Remedy
	for _, m := range list {
		action := m.Action
		if m.Flag != "" {
			action += ": " + m.Flag
		}
		one := report.Remedy{Action: action, Exactness: report.Exactness(m.Exact)}
		if m.Gain != nil {
			one.Cost = "gains at most " + report.Percent(*m.Gain) + " of the time"
		}
		out = append(out, one)
	}
	return out
}

// findingsSections are the causes with their evidence, and what would decide.
func findingsSections(a *idle.Answer) []report.Section {
	var out []report.Section
	for _, f := range a.Findings {
		s := report.Section{Title: "Why: " + f.Verdict, Lead: "confidence " + string(f.Confidence)}
		for _, e := range f.Evidence {
			s.Facts = append(s.Facts, report.Fact{Name: e.Where, Value: e.Fact})
		}
		out = append(out, s)
	}
	if len(a.Findings) == 0 && len(a.Unsure) > 0 {
		s := report.Section{Title: "What would decide"}
		for _, q := range a.Unsure {
			s.Facts = append(s.Facts, report.Fact{Name: titleOf(q.Cause), Value: q.Measure})
		}
		out = append(out, s)
	}
	return out
}

// fullMemory is how full a GPU is whose command may have run out of memory.
const fullMemory = 0.95

// addWarnings says what the answer does not know.
func (r *jobRun) addWarnings(rep *report.Report, end launch.End) {
	j := r.job
	if r.missing != nil {
		rep.Warnings = append(rep.Warnings, report.Warning{Code: "gpus-unread", Message: "no GPU could be read: " + r.missing.Error(), Consequence: "only the host was watched"})
	}
	if !j.Whole {
		rep.Warnings = append(rep.Warnings, report.Warning{Code: "long-run", Message: fmt.Sprintf("the verdict is of the last %s", plural(j.Samples(), "sample")), Consequence: "the tables are of the whole run"})
	}
	if n := left(j); n > 0 {
		rep.Warnings = append(rep.Warnings, report.Warning{Code: "left-behind", Message: "the command has ended, and " + goOn(n), Consequence: "what is held of GPUs stays taken"})
	}
	for _, host := range j.History.Hosts {
		for _, d := range host.Devices {
			if bad := d.Status[series.Lost] + d.Status[series.Stuck] + d.Status[series.Failed]; bad > 0 {
				rep.Verdict.Answer = report.No
				rep.Warnings = append(rep.Warnings, report.Warning{Code: "gpu-unread", Message: fmt.Sprintf("%s did not answer for %s", labelOf(host, d), words.About(bad)), Consequence: "what it did then is not known"})
			}
			if !r.o.OnOOM && end.Code != 0 && d.MemoryTotal > 0 && d.MemoryUsed.High > fullMemory*d.MemoryTotal {
				rep.Warnings = append(rep.Warnings, report.Warning{Code: "memory-full", Message: fmt.Sprintf("the memory of %s was full to %s", labelOf(host, d), report.Percent(d.MemoryUsed.High/d.MemoryTotal)), Consequence: "the command may have run out of it; plimsoll run --on-oom explains the message"})
			}
		}
	}
}

// snapshotAdvice is how PyTorch says who held the memory. It is advice and no hook:
// keeping the history of all allocations makes a program slower.
const snapshotAdvice = `import torch
# before the model is made:
torch.cuda.memory._record_memory_history(stacks="python")
try:
    train()
except torch.OutOfMemoryError:
    torch.cuda.memory._dump_snapshot("oom.pickle")
    raise
# then: plimsoll explain oom.pickle`

// addOOM explains messages about memory at the end of stderr.
func (r *jobRun) addOOM(ctx context.Context, rep *report.Report, doc *runDocument) {
	if r.tail == nil {
		return
	}
	log, err := oomlog.Scan(ctx, bytes.NewReader(r.tail.Bytes()), "stderr")
	if err != nil || len(log.Messages) == 0 {
		return
	}
	result := diagnose.Diagnose(log)
	for _, d := range result.Diagnoses {
		doc.OOM = append(doc.OOM, oomOf(d))
	}
	told := logReport("stderr", log, result)
	rep.Verdict.Answer, rep.Verdict.Word = report.No, told.Verdict.Word
	rep.Reason = told.Verdict.Sentence
	if told.Reason != "" {
		rep.Reason += ". " + told.Reason
	}
	rep.Remedies = slices.Concat(told.Remedies, rep.Remedies)
	rep.Sections = slices.Concat(told.Sections, rep.Sections)
	rep.Sections = append(rep.Sections, report.Section{Title: "To see who held the memory", Text: snapshotAdvice})
}

// goOn says how many processes have outlived their command.
func goOn(n int) string {
	if n == 1 {
		return "one of its processes goes on"
	}
	return fmt.Sprintf("%d of its processes go on", n)
}

// left counts the processes of the job that are still there.
func left(j *job.Job) int {
	n := 0
	for _, id := range j.Latest {
		if proc.Signal(id.PID, id.Started, 0) == nil {
			n++
		}
	}
	return n
}

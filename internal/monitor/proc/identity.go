package proc

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/pattern"
	"github.com/plimsoll-dev/plimsoll/series"
)

var (
	// Docker, containerd, CRI-O and Podman name a container's cgroup by its id.
	containerID = pattern.New(`(?:^|[/:-])([0-9a-f]{64})(?:\.scope)?(?:/|$)`)
	lxcName     = pattern.New(`/lxc(?:\.payload\.|/)([^/\s]+)`)
	slurmJob    = pattern.New(`/job_(\d+)(?:/|$)`)
	podUID      = pattern.New(`(?:/pod|-pod)([0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12})`)
)

// shortID is how much of a container's id its tools show.
const shortID = 12

// fromCgroup finds container and job in the text of /proc/PID/cgroup.
func fromCgroup(text string) (container, job string) {
	for line := range strings.SplitSeq(text, "\n") {
		if m := containerID.FindStringSubmatch(line); m != nil && container == "" {
			container = m[1][:shortID]
		}
		if m := lxcName.FindStringSubmatch(line); m != nil && container == "" {
			container = m[1]
		}
		if m := slurmJob.FindStringSubmatch(line); m != nil && job == "" && strings.Contains(line, "slurm") {
			job = "slurm:" + m[1]
		}
		if m := podUID.FindStringSubmatch(line); m != nil && job == "" {
			job = "k8s:" + strings.ReplaceAll(m[1], "_", "-")
		}
	}
	return container, job
}

// fromEnviron takes rank and devices from the environment, and what names the job
// better than its cgroup does.
func fromEnviron(text []byte, p *series.Process) {
	env := map[string]string{}
	for part := range bytes.SplitSeq(text, []byte{0}) {
		name, value, ok := bytes.Cut(part, []byte("="))
		if ok && wanted[string(name)] {
			env[string(name)] = string(value)
		}
	}
	if n, err := strconv.Atoi(env["RANK"]); err == nil && n >= 0 {
		p.Rank = n
	}
	if n, err := strconv.Atoi(env["WORLD_SIZE"]); err == nil && n > 0 {
		p.WorldSize = n
	}
	p.Visible = env["CUDA_VISIBLE_DEVICES"]
	if id := env["SLURM_JOB_ID"]; id != "" {
		p.Job = "slurm:" + id
	}
	if env["KUBERNETES_SERVICE_HOST"] != "" && env["HOSTNAME"] != "" {
		p.Job = "k8s:" + env["HOSTNAME"] // a pod's host name is its own
		if ns := env["POD_NAMESPACE"]; ns != "" {
			p.Job = "k8s:" + ns + "/" + env["HOSTNAME"]
		}
	}
}

// wanted are the variables that fromEnviron keeps; it keeps no other.
var wanted = map[string]bool{
	"RANK": true, "WORLD_SIZE": true, "CUDA_VISIBLE_DEVICES": true, "SLURM_JOB_ID": true,
	"KUBERNETES_SERVICE_HOST": true, "HOSTNAME": true, "POD_NAMESPACE": true,
}

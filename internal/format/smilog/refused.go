package smilog

import (
	"regexp"
	"strings"
)

// A refusal is a text about GPUs that is no log, or lacks what a log needs.
type refusal struct {
	is        *regexp.Regexp // of its first lines
	msg, hint string
}

const howToLog = "nvidia-smi --query-gpu=timestamp,index,uuid,utilization.gpu,memory.used,memory.total,power.draw --format=csv -l 1 > gpu.csv logs what can be read"

// refusals are all, in the order in which they are tried.
var refusals = []refusal{
	{regexp.MustCompile(`(?m)^\| NVIDIA-SMI `), "this is nvidia-smi's table for people", howToLog},
	{regexp.MustCompile(`(?m)^=+NVSMI LOG=+|<nvidia_smi_log>`), "this is what nvidia-smi -q says of one moment", howToLog},
	{regexp.MustCompile(`(?m)^\[\d+\] .* \| .*'C,`), "this is gpustat's table for people", "gpustat --json writes what can be read"},
	{regexp.MustCompile(`\A\d{4}/\d\d/\d\d \d\d:\d\d:\d\d\.\d+, |\A([^\n]*, )?\d+(\.\d+)? (%|MiB|W|MHz)(, |\r?\n)`), "this is a log of nvidia-smi without its header, so that its columns have no names",
		"leave noheader out, or put the header in as the first line: timestamp, index, utilization.gpu [%], …"},
}

// Refused says of a file that begins with prefix and is no such log what it is and what
// to do; false for what is not known either.
func Refused(prefix []byte) (msg, hint string, ok bool) {
	lines := strings.TrimPrefix(string(text(prefix)), "\ufeff")
	for _, r := range refusals {
		if r.is.MatchString(lines) {
			return r.msg, r.hint, true
		}
	}
	return "", "", false
}

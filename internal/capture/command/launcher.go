package command

import (
	"strconv"
	"strings"
)

// A launcher starts other Python processes with the interpreter that runs it.
type launcher struct {
	names []string // of the program and of the module
	// count are the flags that say how many processes run on this machine.
	count []string
}

// launchers are the ones whose flags are known. Sources: `torchrun --help`
// (2.15), `accelerate launch --help` (1.14), `deepspeed --help` (0.19).
var launchers = []launcher{
	{names: []string{"torchrun", "torch.distributed.run", "torch.distributed.launch"}, count: []string{"--nproc-per-node", "--nproc_per_node"}},
	{names: []string{"accelerate", "accelerate-launch", "accelerate.commands.launch"}, count: []string{"--num-processes", "--num_processes"}},
	{names: []string{"deepspeed", "deepspeed.launcher.runner"}, count: []string{"--num_gpus"}},
	{names: []string{"lightning", "fabric"}, count: []string{"--devices"}},
}

func launcherOf(name string) (launcher, bool) {
	for _, l := range launchers {
		for _, n := range l.names {
			if n == name {
				return l, true
			}
		}
	}
	return launcher{}, false
}

// processes reads the number of processes from the launcher's flags, 0 when
// they do not give one.
func (l launcher) processes(args []string) int {
	for i, arg := range args {
		if strings.HasSuffix(arg, ".py") {
			break // what follows belongs to the script
		}
		for _, flag := range l.count {
			value, glued := strings.CutPrefix(arg, flag+"=")
			if arg == flag && i+1 < len(args) {
				value, glued = args[i+1], true
			}
			if n, err := strconv.Atoi(value); glued && err == nil && n > 0 && n <= 64 {
				return n
			}
		}
	}
	return 0
}

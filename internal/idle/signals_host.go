package idle

// Limits of host signals.
const (
	// saturated is the share of a processor that a worker without a pause
	// takes or waits for; the catalogue says 90 %, of which the hand-over of a
	// batch and the ticks of the clock take some.
	saturated = 0.8
	// tireless is the share from which a process never waits.
	tireless = 0.95
	// asleep is the share of a processor below which a main process waits for
	// others.
	asleep = 0.35
	// waiting is the share of the time in a disk's queue from which a worker
	// is held up by it.
	waiting = 0.25
	// flowing is a rate of reading that can be the input of a training: ten
	// images of a hundred kilobytes in a second.
	flowing = 1 << 20
	// pressed is the share of the time under pressure of a resource.
	pressed = 0.2
	// largeWrite is the least that a checkpoint writes: a million parameters
	// with their optimizer are 12 MB; logs and plots are smaller.
	largeWrite = 4 << 20
	// someWrite is the least that counts as writing: less is a line on a
	// terminal.
	someWrite = 128
	// spareCPU is how much of a processor must be free to call it free.
	spareCPU = 0.5
)

var hostSignals = []Signal{
	{"no-workers", OfHost, "processes", "the training process has no workers", "", askNoWorkers},
	{"workers-saturated", OfHost, "processor time of workers", "every worker computes without a pause", "read the processor time of the workers", askSaturated},
	{"cpus-left", OfHost, "processor time of the job", "the job leaves processors unused that it may take", "read which processors the job may take", askCPUsLeft},
	{"no-cpus-left", OfHost, "processor time of the job", "the job could use all processors that it may take", "read which processors the job may take", askNoCPUsLeft},
	{"disk-wait", OfHost, "state of loaders", "those who load wait for a disk or a file server", "look at the state of the workers (D) with /proc/PID/stat", askDiskWait},
	{"disk-reads", OfHost, "reads", "data comes from a disk, not from the page cache", "read /proc/PID/io", askDiskReads},
	{"io-pressure", OfHost, "pressure", "the kernel counts tasks that wait for input or output", "", askIOPressure},
	{"main-asleep", OfHost, "main process", "the training process sleeps while the GPU idles", "read the processor time of the training process", askMainAsleep},
	{"main-full", OfHost, "main process", "the training process computes all the time", "read the processor time of the training process", askMainFull},
	{"main-alternates", OfHost, "main process", "the training process computes in part of the time, and more so while the GPU idles", "read the processor time of the training process", askMainAlternates},
	{"main-accounts", OfHost, "main process", "the training process computes for more than launching takes, or for as long as the GPU idles and hardly longer", "read the processor time of the training process", askMainAccounts},
	{"main-follows", OfHost, "main process beside utilisation", "the training process computes more, the more the GPU idles, sample by sample", "sample ten times a second: --interval 100ms", askMainFollows},
	{"main-runs-in-gaps", OfHost, "main process", "the training process computes while the GPU idles", "read the processor time of the training process", askMainRuns},
	{"main-rests-at-work", OfHost, "main process", "the training process computes in gaps and hardly while the GPU works", "look at what the training process does while the GPU idles: py-spy dump --pid PID", askMainRests},
	{"main-still", OfHost, "main process", "the training process does not compute at all", "read the processor time of the training process", askMainStill},
	{"job-still", OfHost, "main process", "no process of the job computes", "read the processor time of the processes on the GPU", askJobStill},
	{"job-computes", OfHost, "processor time of the job", "the job computes on processors", "read the processor time of the job", askJobComputes},
	{"ranks", OfHost, "processes", "the job has several ranks", "set RANK and WORLD_SIZE, or start it with torchrun", askRanks},
	{"odd-main", OfHost, "main process", "the process of one rank computes more or less than the others", "read the processor time of every rank", askOddMain},
	{"slow-process", OfHost, "main process", "the process of the rank whose GPU idles more computes for another time than the others", "", askSlowProcess},
	{"workers-replaced", OfHost, "processes", "workers end and others start when the GPU stalls", "look at the PIDs of the workers", askReplaced},
	{"remote-wait", OfHost, "wait of loaders", "those who load wait in the code of a network file system or for the network", "read /proc/PID/wchan of the workers", askRemoteWait},
	{"file-wait", OfHost, "wait of loaders", "those who load wait in the code of a network file system", "", askFileWait},
	{"network-reads", OfHost, "network", "data comes in over the network while the job reads", "read the traffic of the network interfaces, and /proc/PID/io", askNetReads},
	{"no-disk-reads", OfHost, "reads", "hardly any data comes from a local disk", "", askNoDiskReads},
	{"major-faults", OfHost, "page faults", "many page faults wait for a disk", "read major faults of the job (/proc/PID/stat)", askFaults},
	{"cache-full", OfHost, "page cache", "what is read from disks does not stay in the page cache", "read the size of the page cache", askCacheFull},
	{"memory-pressure", OfHost, "pressure", "the kernel counts tasks that wait for memory", "read /proc/pressure/memory", askMemoryPressure},
	{"waits-for-cpu", OfHost, "wait for processors", "the job's processes are ready to run and get no processor", "read /proc/PID/schedstat", askWaitsForCPU},
	{"mostly-waits", OfHost, "wait for processors", "the training process waits for a processor for longer than it has one", "read /proc/PID/schedstat", askMostlyWaits},
	{"unserved", OfHost, "wait for processors", "the training process has a processor for less than a fifth of what it wants", "read /proc/PID/schedstat", askUnserved},
	{"workers-mostly-wait", OfHost, "wait for processors", "workers without a pause wait for a processor for longer than they have one", "read /proc/PID/schedstat of the workers", askWorkersMostlyWait},
	{"workers-crowded", OfHost, "wait for processors", "workers that could compute get no processor", "read /proc/PID/schedstat of the workers", askWorkersCrowded},
	{"launches-only", OfHost, "main process", "the training process computes all the time, and the GPU draws little power at work", "", askLaunchesOnly},
	{"tenant-computes", OfHost, "processor time of others", "the process of the other job computes", "read the processor time of the process of the other job", askTenantComputes},
	{"over-demand", OfHost, "processor time of the job", "the job wants half as many processors again as it may take, or more", "read which processors the job may take", askOverDemand},
	{"threads-crowd", OfHost, "threads", "one process alone wants more processors than the job may take", "count the threads that run in each process: top -H", askThreadsCrowd},
	{"threads-saturated", OfHost, "processor time of threads", "threads of the training process compute on nearly all processors that it may take, and its main thread rests", "read the processor time of the main thread (/proc/PID/task)", askThreadsSaturated},
	{"many-threads", OfHost, "processor time of threads", "the training process takes two processors or more while the GPU idles", "", askManyThreads},
	{"compilers", OfHost, "compilers", "compilers that the job started take half a processor or more", "look at the children of the training process", askCompilers},
	{"quota", OfHost, "quota", "the processor quota of the container is used up", "read cpu.stat of the cgroup", askQuota},
	{"others-more", OfHost, "processor time of others", "other work takes more processors than the job", "read the processor time of the host", askOthersMore},
	{"others-crowd", OfHost, "processor time of others", "without other work the job would wait for processors for less than half as long", "read the processor time of the host", askOthersCrowd},
	{"holder-gone", OfHost, "processes on the GPU", "memory is held by a process that is dead or cannot be seen", "list the processes on the GPU as root: nvidia-smi, fuser -v /dev/nvidia*", askHolderGone},
	{"tenant", OfHost, "processes on the GPU", "a process of another job is on the GPU", "", askTenant},
	{"tenant-works", OfDevice, "utilisation by process", "kernels of another job run on the GPU", "read utilisation by process (nvidia-smi pmon)", askTenantWorks},
	{"asked-unused", OfHost, "processes on the GPU", "the job holds nothing on a GPU that it was given", "", askUnused},
	{"other-used", OfDevice, "device memory", "the GPU that it was given is empty, and it works on another", "", askElsewhere},
	{"main-reads", OfHost, "reads", "the training process itself reads the data", "read /proc/PID/io", askMainReads},
	{"large-writes", OfHost, "writes", "large amounts are written when the GPU stalls", "read /proc/PID/io", askLargeWrites},
	{"mostly-large-writes", OfHost, "writes", "large amounts are written in most of the idle time", "read /proc/PID/io", askMostlyLargeWrites},
	{"mostly-replaced", OfHost, "processes", "workers end and others start in most of the idle time", "look at the PIDs of the workers", askMostlyReplaced},
	{"small-writes", OfHost, "writes", "small amounts are written when the GPU stalls, and hardly any between", "read /proc/PID/io", askSmallWrites},
}

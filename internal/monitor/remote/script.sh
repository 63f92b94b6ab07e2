# Runs at the other end, fed by plimsoll: each line is a command and its words, each
# answer ends with a line that begins with the mark. Needs a POSIX shell, cat, head,
# tr and grep.
set -f
LC_ALL=C; export LC_ALL
limit=; command -v timeout >/dev/null 2>&1 && limit='timeout 10'
printf '\n%s 0\n' "$mark"
while IFS= read -r line; do
	set -- $line
	case $1 in
	gpus) $limit nvidia-smi -q -x </dev/null 2>&1; printf '\n%s %s\n' "$mark" "$?" ;;
	tree) set +f; cat /proc/[0-9]*/stat 2>/dev/null; set -f; printf '\n%s 0\n' "$mark" ;;
	files) shift; head -v -c 65536 "$@" </dev/null 2>/dev/null; printf '\n%s 0\n' "$mark" ;;
	names) shift
		for pid; do
			printf '==> /proc/%s/environ <==\n' "$pid"
			tr '\0' '\n' </proc/"$pid"/environ 2>/dev/null | grep -E '^(RANK|WORLD_SIZE|CUDA_VISIBLE_DEVICES|SLURM_JOB_ID)='
			echo
		done
		printf '\n%s 0\n' "$mark" ;;
	esac
done

#!/bin/sh
# usage: run.sh PYTHON [FLAG...] -- [SCRIPT...]: runs the scripts of this folder on
# the virtual GPU and says which failed. From the root of the repository; the flags
# are those of vgpuenv. A moment passes before each interpreter ends, because
# PyTorch's backward thread may still be putting away Python objects.
python=$1
shift
flags=
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	flags="$flags $1"
	shift
done
shift
here=$(dirname "$0")
[ $# -gt 0 ] || set -- "$here"/*.py
patient='import atexit, runpy, sys, time; atexit.register(time.sleep, 0.2); del sys.argv[0]; runpy.run_path(sys.argv[0], run_name="__main__")'
log=$(mktemp)
failed=0
for script; do
	if go run ./internal/capture/vgpu/vgpuenv --python "$python" $flags -- "$python" -c "$patient" "$script" >"$log" 2>&1; then
		echo "ok   $script"
	else
		echo "FAIL $script"
		tail -5 "$log"
		failed=1
	fi
done
rm -f "$log"
exit $failed

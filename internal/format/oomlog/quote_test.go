package oomlog

import "testing"

// TestWordsInSourceCodeAreNoMessages has what tracebacks, tests, searches and
// advice show.
func TestWordsInSourceCodeAreNoMessages(t *testing.T) {
	for _, text := range []string{
		"Traceback (most recent call last):\n  File \"train.py\", line 3, in step\n    raise RuntimeError(\"CUDA out of memory\")\n",
		"    raise RuntimeError('CUDA out of memory. Tried to allocate 2.00 GiB')\n",
		"  File \"engine.py\", line 699, in check\n    raise ValueError(\"No available memory for the cache blocks. \"\n                     \"Try increasing it\")\n",
		"    raise RuntimeError(\n        \"CUDA out of memory occurred when warming up sampler with 64 dummy requests\"\n    )\n",
		"        if \"CUDA out of memory\" in str(e):\n            torch.cuda.empty_cache()\n",
		"    except RuntimeError as e:  # CUDA out of memory\n",
		"train.py:120:        if 'CUDA out of memory' in str(e):\n",
		"    with self.assertRaisesRegex(RuntimeError, \"CUDA out of memory. Tried to allocate 1.00 GiB\"):\n",
		"$ grep -rn \"CUDA out of memory\" .\n",
		"throw std::runtime_error(\"CUDA error: out of memory\");\n",
		"print(f\"CUDA out of memory, retrying\")\n",
		"logger.warning(\"CUDA out of memory, skipping batch\")\n",
		"        return \"CUDA out of memory\"\n",
		"OOM = \"CUDA out of memory\"\n",
		"If you see \"CUDA out of memory\", use a smaller batch.\n",
		"UserWarning: this setting may cause CUDA out of memory on small cards\n",
		"UserWarning: to avoid CUDA out of memory, lower max_batch\n",
		"This reduces CUDA out of memory errors\n",
		"Tips: CUDA out of memory issues are mostly due to long sequences\n",
		"model.py:12: in forward\n    print('CUDA error: out of memory')\n",
		"    raise ValueError(\"DefaultCPUAllocator: not enough memory: you tried to allocate 12 bytes\")\n",
		"// CUDA error: out of memory is returned as status 2\n",
		"Title: [BUG] CUDA out of memory when training with LoRA #1234\n",
		"* Fixed CUDA out of memory in the evaluation (#124)\n",
		"# pods that are OOMKilled start again\n",
		"pods may be OOMKilled when the limit is too low: the container could get exit code 137\n",
	} {
		if log := scan(t, "step 1\n"+text+"step 2\n"); len(log.Messages) > 0 || log.Quoted == 0 {
			t.Errorf("%q: %v, quoted in line %d", text, names(log), log.Quoted)
		}
	}
}

// TestMessagesInQuotationMarksAreMessages has what programs print.
func TestMessagesInQuotationMarksAreMessages(t *testing.T) {
	for _, text := range []string{
		`{"level":"error","msg":"CUDA out of memory. Tried to allocate 2.00 GiB","step":3}`,
		`{"error": "CUDA out of memory"}`,
		`time=2026-01-02T03:04:05Z level=error msg="CUDA error: out of memory"`,
		`OutOfMemoryError('CUDA out of memory. Tried to allocate 20.00 MiB')`,
		`ray.exceptions.RayTaskError(RuntimeError): RuntimeError('CUDA error: out of memory')`,
		`Exception string: 'CUDA error: out of memory`,
		`Worker failed with error 'CUDA out of memory. Tried to allocate 2.00 GiB', please check the stack trace above`,
		`It doesn't fit: CUDA out of memory. Tried to allocate 2.00 GiB`,
		`failed: "CUDA out of memory. Tried to allocate 2.00 GiB"`,
		"`CUDA out of memory. Tried to allocate 2.00 GiB`",
		"  File \"<string>\", line 1, in <module>\nRuntimeError: CUDA error: out of memory",
		"  File \"train.py\", line 3, in step\n    x = model(y)\nRuntimeError: CUDA error: out of memory",
		"Could not load the model because CUDA out of memory",
		"step #124: CUDA out of memory",
		"CUDA out of memory in worker #3",
		"# RuntimeError: CUDA error: out of memory",
		"CUDA out of memory: retrying with half the batch",
		"  File \"run.sh\", line 1\nKilled",
		"  File \"train.py\", line 3 in step\n/var/spool/job1/slurm_script: line 28:  8156 Killed                  python3 main.py",
		"  File \"train.py\", line 3 in step\nslurmstepd: error: Detected 1 oom-kill event(s) in StepId=191.batch cgroup.",
	} {
		if log := scan(t, "step 1\n"+text+"\nstep 2\n"); len(log.Messages) != 1 || log.Messages[0].Count != 1 {
			t.Errorf("%q: %v", text, names(log))
		}
	}
}

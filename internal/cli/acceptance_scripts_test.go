package cli

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/capture"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// wide is the perceptron of several scripts.
var wide = linear(1024, 4096) + linear(4096, 1024)

// acceptedScripts are the kinds of scripts that must work. What a check knows
// of a script follows from the script, not from what plimsoll says.
var acceptedScripts = []accepted{
	{name: "a plain loop", command: "python plain.py", check: both(trains(wide, adam), prints("1 0.0"))},
	{
		name: "expandable segments by a flag", command: "python plain.py",
		flags: []string{"--alloc-conf", "expandable_segments:True"}, since: [2]int{2, 1}, check: both(trains(wide, adam), expands),
	},
	{
		name: "expandable segments set by the script", command: "python expandable.py", since: [2]int{2, 1},
		check: both(trains(wide, adam), expands),
	},
	{
		name: "mixed precision with a GradScaler", command: "python amp_scaler.py",
		check: trains(linear(512, 2048)+linear(2048, 10), momentum),
	},
	{
		name: "a script that saves each step", command: "python saves_each_step.py",
		// The capture ends within the third step, before its checkpoint.
		check: both(trains(linear(1024, 1024), adam), keepsTwo("checkpoint.pt"), keeps("log.txt")),
	},
	{
		name: "out of memory", command: "python oom.py", flags: []string{"--gpu", "3090"},
		exit: ExitNo, end: "oom", steps: -1, verdict: capture.DoesNotFit, check: checkOutOfMemory,
	},
	{name: "DataParallel on four devices", command: "python data_parallel.py", flags: []string{"--gpu", "a100x4"}, check: checkReplicas},
	{name: "DDP under torchrun", command: "torchrun --nproc-per-node 2 ddp.py", flags: []string{"--gpu", "a100"}, check: checkBuckets},
	{name: "DDP as the last rank of eight", command: "python ddp.py", flags: []string{"--gpu", "a100", "--world", "8", "--rank", "7"}, check: checkLastRank},
	{
		name: "FSDP2 under torchrun", command: "torchrun --nproc-per-node 2 fsdp2.py", since: [2]int{2, 6},
		check: both(sharded(2, 6), ranks(2)),
	},
	{name: "FSDP2 as a rank of eight", command: "python fsdp2.py", flags: []string{"--world", "8"}, since: [2]int{2, 6}, check: sharded(8, 6)},
	{name: "FSDP1 as a rank of eight", command: "python fsdp1.py", flags: []string{"--world", "8"}, check: sharded(8, 4)},
	{
		name: "DeepSpeed ZeRO-2 as a rank of four", command: "python deepspeed_zero2.py", flags: []string{"--world", "4"},
		needs: []string{"deepspeed"}, check: checkZeRO,
	},
	{
		name: "accelerate launch", command: "accelerate launch accelerated.py", flags: []string{"--steps", "99"},
		needs: []string{"accelerate"}, end: "script_end", steps: 256 / 16 / 2,
		check: both(trains(linear(512, 2048)+linear(2048, 10), adam), keeps("state")),
	},
	{name: "Hugging Face Trainer", command: "python hf_trainer.py", needs: []string{"transformers", "accelerate"}, check: checkTrainer},
	{name: "PEFT LoRA with checkpointing", command: "python peft_lora.py", needs: []string{"transformers", "peft"}, check: checkAdapters},
	{
		name: "Lightning", command: "python lightning_fit.py", flags: []string{"--steps", "99"}, needs: []string{"lightning"},
		end: "script_end", steps: 2 * 512 / 64, check: both(trains(linear(784, 2048)+linear(2048, 10), adam), keeps("lightning_logs")),
	},
	{name: "a timm vision transformer", command: "python timm_vit.py", needs: []string{"timm", "torchvision"}, check: trains(visionTransformer(), momentum)},
	{name: "torchvision detection", command: "python detection.py", needs: []string{"torchvision"}, bound: true, check: checkDetection},
	{name: "torch.compile", command: "python compiled.py", needs: []string{"triton"}, since: [2]int{2, 6}, check: checkCompiled},
	{name: "bitsandbytes 8-bit Adam", command: "python bnb_adam8bit.py", needs: []string{"bitsandbytes"}, check: checkEightBit},
	{name: "bitsandbytes 4-bit linear layers", command: "python bnb_linear4bit.py", needs: []string{"bitsandbytes"}, check: checkFourBit},
	{
		name: "generate with sampling", command: "python generate.py", needs: []string{"transformers"}, end: "script_end", steps: -1,
		check: checkGeneration,
	},
	{
		name: "PPO to its end", command: "python ppo.py", flags: []string{"--steps", "1000"}, needs: []string{"stable_baselines3", "gymnasium"},
		// Each of four rollouts of 128 steps is gone through twice in minibatches of 32.
		end: "script_end", steps: 512 / 128 * 2 * 128 / 32, check: both(trains(actorCritic(), adam), prints("total_timesteps      | 512")),
	},
	{name: "an LSTM", command: "python lstm.py", check: checkRecurrent},
	{
		name: "FFT, linalg, sparse products, CTC", command: "python fft_linalg.py", flags: []string{"--steps", "99"},
		end: "script_end", steps: 6, check: checkSpectral,
	},
	{
		name: "a CUDA graph captured and replayed", command: "python cuda_graph.py", flags: []string{"--steps", "99"},
		// Two steps to warm up and the captured one; replays run no Python.
		end: "script_end", steps: 3, check: both(checkGraph, prints("4 0.0")),
	},
	{name: "transforms, TorchScript, sparse tensors", command: "python transforms.py", since: [2]int{2, 6}, bound: true, check: trains(3*linear(64, 64), 0)},
	{name: "a package", command: "python -m package", check: both(trains(linear(1024, 2048)+linear(2048, 1024), adam), named("package/__main__.py"))},
	{
		name: "arguments, a main function, workers", command: "python arguments.py --batch-size 64 --width 32 --workers 2",
		check: trains(32*3*3*3+32+norm(32)+linear(32*16, 10), momentum),
	},
	{
		name: "sys.exit in the second step", command: "python leaves.py 0", end: "exit", steps: 1,
		check: both(trains(linear(2048, 2048), momentum), warns("one-step")),
	},
	{name: "sys.exit with a failure", command: "python leaves.py 3", exit: ExitFailed, check: prints("exit status 3")},
}

func expands(t *testing.T, a answer) {
	t.Helper()
	if a.RecordedWith.AllocConf != "expandable_segments:True" {
		t.Errorf("recorded with %q", a.RecordedWith.AllocConf)
	}
}

// named checks that a line of a file of the script's holds memory.
func named(file string) func(*testing.T, answer) {
	return func(t *testing.T, a answer) {
		t.Helper()
		if !slices.ContainsFunc(a.Sites, func(s capture.Site) bool { return strings.HasSuffix(s.File, file) && s.User }) {
			t.Errorf("no line of %s among %+v", file, a.Sites)
		}
	}
}

func checkOutOfMemory(t *testing.T, a answer) {
	t.Helper()
	// The output of the first layer has 131,072 x 65,536 numbers.
	message := `CUDA out of memory. Tried to allocate 32\.00 GiB.* 23\.69 GiB`
	if a.torch[1] > 0 {
		message += `.* this process has 1\.\d\d GiB memory in use`
	}
	if a.OOM == nil || !regexp.MustCompile(message).MatchString(a.OOM.Message) {
		t.Fatalf("%+v", a.OOM)
	}
	if a.OOM.Caught || a.OOM.Phase != "forward" || a.OOM.Step != 1 || !strings.HasSuffix(a.OOM.Site, "oom.py:13 in forward") {
		t.Errorf("%+v", a.OOM)
	}
	held(t, "parameters", a.ByCategory.Parameter, (linear(1024, 65536)+linear(65536, 1024))*single)
	held(t, "inputs", a.ByCategory.Input, 131072*1024*single)
	// Backward has three such outputs at once, and what forward left free may
	// lie in pieces.
	between(t, "a card without a limit", a.OOM.Needs, 3*32*unit.GiB, (4*32+2)*unit.GiB)
}

func checkReplicas(t *testing.T, a answer) {
	t.Helper()
	model := (linear(1024, 8192) + linear(8192, 1024)) * single
	if len(a.Processes) != 1 || len(a.Processes[0].Devices) != 4 || a.GPU.Count != 4 || a.Peak.Index != 0 {
		t.Fatalf("processes %+v, the fullest device is %d", a.Processes, a.Peak.Index)
	}
	held(t, "parameters", a.ByCategory.Parameter, model)
	for i, d := range a.Processes[0].Devices {
		// A replica and what it keeps of a quarter of the batch; the weights of
		// a layer go as its gradients come. The first device reduces them.
		least := model + 128*(1024+8192)*single
		most := 3*model + 64*unit.MiB
		if d.Index != i || d.Allocated < least || d.Allocated > most {
			t.Errorf("device %d: %d bytes allocated, want %d to %d", d.Index, d.Allocated, least, most)
		}
	}
}

func checkBuckets(t *testing.T, a answer) {
	t.Helper()
	trains(wide, adam)(t, a)
	ranks(2)(t, a)
	// Every gradient is there twice, in its bucket and for the optimizer;
	// barriers take one number.
	held(t, "gradients", a.ByCategory.Gradient, wide*single)
	between(t, "buckets", a.ByCategory.Communication, wide*single, wide*single+unit.KiB)
}

func ranks(n int) func(*testing.T, answer) {
	return func(t *testing.T, a answer) {
		t.Helper()
		if len(a.Processes) != n || a.GPU.Count != n {
			t.Fatalf("processes %+v on %d devices", a.Processes, a.GPU.Count)
		}
		for i, p := range a.Processes {
			if p.Rank != i || p.World != n || len(p.Devices) != 1 || p.Devices[0].Index != i || p.Devices[0].Allocated != a.Processes[0].Devices[0].Allocated {
				t.Errorf("rank %d: %+v", i, p)
			}
		}
	}
}

func checkLastRank(t *testing.T, a answer) {
	t.Helper()
	trains(wide, adam)(t, a)
	if len(a.Processes) != 1 || a.Processes[0].Rank != 7 || a.Processes[0].World != 8 {
		t.Errorf("processes %+v", a.Processes)
	}
	between(t, "buckets", a.ByCategory.Communication, wide*single, wide*single+unit.KiB)
}

// sharded checks layers of a transformer of width 512 that are split over
// ranks; each rank keeps its part, and gathers at least one layer in bfloat16.
func sharded(ranks, layers unit.Bytes) func(*testing.T, answer) {
	return func(t *testing.T, a answer) {
		t.Helper()
		layer := encoder(512, 2048)
		trains(layers*layer/ranks, adam)(t, a)
		between(t, "gathered parameters", a.ByCategory.Communication, layer*half, (layers+1)*layer*half)
	}
}

func checkZeRO(t *testing.T, a answer) {
	t.Helper()
	model, bucket := 4*encoder(256, 1024), unit.Bytes(500_000_000) // DeepSpeed's reduce_bucket_size
	held(t, "parameters", a.ByCategory.Parameter, model*half)
	held(t, "this rank's master weights", a.ByCategory.MasterWeight, model/4*single)
	// AdamW counts the steps of the one flat tensor.
	between(t, "this rank's optimizer states", a.ByCategory.Optimizer, adam*model/4*single, adam*model/4*single+single)
	between(t, "the bucket", a.ByCategory.Communication, bucket*half, bucket*half+model*half)
}

func checkTrainer(t *testing.T, a answer) {
	t.Helper()
	embeddings := (30522+512+2)*256 + norm(256)
	layer := 4*linear(256, 256) + linear(256, 1024) + linear(1024, 256) + 2*norm(256)
	model := embeddings + 4*layer + linear(256, 256) + linear(256, 2)
	const tensors = 3 + 2 + 4*16 + 2 + 2
	held(t, "parameters", a.ByCategory.Parameter, model*single)
	// The fused AdamW that Trainer takes counts its steps on the device.
	held(t, "optimizer states", a.ByCategory.Optimizer, (adam*model+tensors)*single)
	keeps("out/checkpoint-2")(t, a)
}

func checkAdapters(t *testing.T, a answer) {
	t.Helper()
	layer := unit.Bytes(512*512*2 + 512*256*2 + 3*512*1536 + 2*512)
	model := 2*8000*512 + 6*layer + 512
	lora := unit.Bytes(6 * 16 * (512 + 512 + 512 + 256))
	// PEFT keeps adapters of a model in bfloat16 in single precision.
	held(t, "parameters", a.ByCategory.Parameter, model*half+lora*single)
	held(t, "optimizer states", a.ByCategory.Optimizer, adam*lora*single)
	prints("trainable params: 172,032")(t, a)
	// Without checkpointing each of six layers would keep far more than its input.
	input := unit.Bytes(4 * 512 * 512)
	between(t, "activations", a.ByCategory.Activation, 6*input*half, 6*20*input*half)
}

// visionTransformer is timm's vit_small_patch16_224 with 100 classes.
func visionTransformer() unit.Bytes {
	const width = 384
	patches := unit.Bytes(16*16*3*width + width)
	positions := unit.Bytes((14*14+1)*width + width) // and the class token
	block := linear(width, 3*width) + linear(width, width) + linear(width, 4*width) + linear(4*width, width) + 2*norm(width)
	return patches + positions + 12*block + norm(width) + linear(width, 100)
}

func checkDetection(t *testing.T, a answer) {
	t.Helper()
	if len(a.Operators) == 0 {
		t.Fatal("no operator is named")
	}
	for _, op := range a.Operators {
		if op.Op == "" || !strings.HasSuffix(op.File, "detection.py") || op.Line != 11 || op.Count == 0 {
			t.Errorf("%+v", op)
		}
	}
	model := a.ByCategory.Parameter // ResNet-50, a pyramid and heads: torchvision's table says 41.8 million with 91 classes
	between(t, "parameters", model, 40_000_000*single, 41_800_000*single)
}

func checkCompiled(t *testing.T, a answer) {
	t.Helper()
	const width, rows = 256, 64 * 128
	block := norm(width) + linear(width, 4*width) + linear(4*width, width)
	held(t, "parameters", a.ByCategory.Parameter, 3*block*single)
	// Each block keeps at least what goes into its second layer.
	between(t, "activations", a.ByCategory.Activation, 2*rows*4*width*single, 3*rows*14*width*single)
}

func checkEightBit(t *testing.T, a answer) {
	t.Helper()
	held(t, "parameters", a.ByCategory.Parameter, wide*single)
	// Tensors below 4,096 numbers keep states of four bytes; each 256 numbers
	// of the others have one scale, and two tables say what a byte means.
	quantised := wide - 1024
	states := adam*(quantised+quantised/256*single+1024*single) + 2*256*single
	between(t, "optimizer states", a.ByCategory.Optimizer, adam*wide, states)
}

func checkFourBit(t *testing.T, a answer) {
	t.Helper()
	frozen, head := unit.Bytes(4*1024*1024), linear(1024, 10)
	// Half a byte for each weight; scales of 64 numbers take a byte or four.
	least := frozen/2 + head*half
	between(t, "parameters", a.ByCategory.Parameter, least, least+frozen/64*single+4*1024*single+64*unit.KiB)
	between(t, "optimizer states", a.ByCategory.Optimizer, adam*head*half, adam*head*half+unit.KiB)
}

func checkGeneration(t *testing.T, a answer) {
	t.Helper()
	const width, vocabulary, positions = 256, 5000, 1024
	block := 2*norm(width) + linear(width, 3*width) + linear(width, width) + linear(width, 4*width) + linear(4*width, width)
	held(t, "parameters", a.ByCategory.Parameter, ((vocabulary+positions)*width+4*block+norm(width))*single)
	shapes := regexp.MustCompile(`(?m)^(True|False) \(4, (\d+)\)$`).FindAllStringSubmatch(a.stderr, -1)
	if len(shapes) != 2 {
		t.Fatalf("shapes %v", shapes)
	}
	for _, s := range shapes {
		if len(s[2]) != 2 || s[2] < "17" || s[2] > "40" {
			t.Errorf("the output has %s tokens, want up to 24 after 16", s[2])
		}
	}
	token := 4 * 2 * 4 * width * single // layers, keys and values, sequences
	between(t, "keys and values", a.ByCategory.KVCache, 16*token, 40*token)
}

// actorCritic is the network of MlpPolicy for CartPole: two towers of two
// layers, two actions, one value.
func actorCritic() unit.Bytes {
	return 2*(linear(4, 64)+linear(64, 64)) + linear(64, 2) + linear(64, 1)
}

func checkRecurrent(t *testing.T, a answer) {
	t.Helper()
	trains(5000*256+recurrent(256, 512)+recurrent(512, 512)+linear(512, 5000), adam)(t, a)
	if len(a.Estimates) == 0 {
		t.Error("nothing is said of cuDNN's own memory")
	}
}

func checkSpectral(t *testing.T, a answer) {
	t.Helper()
	// Complex weights of 64 x 33 and a real matrix.
	held(t, "parameters", a.ByCategory.Parameter, 64*33*2*single+64*64*single)
	version := regexp.MustCompile(`(?m)^cuDNN (\d+)$`).FindStringSubmatch(a.stderr)
	if version == nil || len(version[1]) < 4 {
		t.Errorf("cuDNN's version is %v", version)
	}
}

func checkGraph(t *testing.T, a answer) {
	t.Helper()
	model := 2 * linear(1024, 1024)
	held(t, "parameters", a.ByCategory.Parameter, model*single)
	// capturable: the four step counters are on the device.
	held(t, "optimizer states", a.ByCategory.Optimizer, (adam*model+4)*single)
}

package main

// scripts are the published scripts, with the sizes that people run them with
// unless the command says another.
var scripts = []script{{
	name: "examples/imagenet ResNet-18, dummy data", repo: "pytorch/examples", dir: "imagenet",
	command: []string{"python", "main.py", "--dummy"},
}, {
	name: "nanoGPT shakespeare_char, compiled", repo: "karpathy/nanoGPT",
	make:    []file{{"data/shakespeare_char/train.bin", tokens(1_000_000, 65)}, {"data/shakespeare_char/val.bin", tokens(100_000, 65)}},
	command: []string{"python", "train.py", "config/train_shakespeare_char.py"},
}, {
	name: "nanoGPT GPT-2 124M, not compiled", repo: "karpathy/nanoGPT",
	make:    []file{{"data/openwebtext/train.bin", tokens(1_000_000, 50257)}, {"data/openwebtext/val.bin", tokens(100_000, 50257)}},
	command: []string{"python", "train.py", "--compile=False", "--eval_iters=10"},
}, {
	name: "Pytorch-UNet, mixed precision", repo: "milesial/Pytorch-UNet",
	make:    []file{{"data/imgs", images(40, 640, 480)}, {"data/masks", masks(40, 640, 480)}},
	command: []string{"python", "train.py", "--amp", "--batch-size", "4"},
}, {
	name: "minGPT adder", repo: "karpathy/minGPT",
	env:     []string{"PYTHONPATH=$CHECKOUT"},
	command: []string{"python", "projects/adder/adder.py"},
}, {
	name: "minGPT chargpt", repo: "karpathy/minGPT", dir: "projects/chargpt",
	env:     []string{"PYTHONPATH=$CHECKOUT"},
	make:    []file{{"input.txt", text(200_000)}},
	command: []string{"python", "chargpt.py"},
}, {
	name: "examples/dcgan, fake data", repo: "pytorch/examples", dir: "dcgan",
	command: []string{"python", "main.py", "--dataset", "fake", "--accel"},
}, {
	name: "examples/word_language_model LSTM", repo: "pytorch/examples", dir: "word_language_model",
	make:    corpus,
	command: []string{"python", "main.py", "--data", "corpus", "--accel", "--use-optimizer"},
}, {
	name: "examples/word_language_model Transformer", repo: "pytorch/examples", dir: "word_language_model",
	make:    corpus,
	command: []string{"python", "main.py", "--data", "corpus", "--accel", "--use-optimizer", "--model", "Transformer", "--lr", "5"},
}, {
	name: "examples/gat", repo: "pytorch/examples", dir: "gat",
	make:    []file{{"cora", citations(2708, 1433, 5429)}},
	command: []string{"python", "main.py"},
}, {
	name: "examples/super_resolution", repo: "pytorch/examples", dir: "super_resolution",
	make:    []file{{"dataset/BSDS300/images/train", images(256, 320, 320)}, {"dataset/BSDS300/images/test", images(20, 320, 320)}},
	command: []string{"python", "main.py", "--upscale_factor", "3", "--accel"},
}, {
	name: "examples/ddp-tutorial-series under torchrun", repo: "pytorch/examples", dir: "distributed/ddp-tutorial-series",
	flags:   []string{"--gpu", "a100x2"},
	command: []string{"torchrun", "--standalone", "--nproc_per_node=2", "multigpu_torchrun.py", "50", "10"},
}, {
	name: "examples/mnist", repo: "pytorch/examples", dir: "mnist",
	make:    mnist,
	command: []string{"python", "main.py", "--save-model"},
}, {
	name: "examples/mnist_rnn", repo: "pytorch/examples", dir: "mnist_rnn",
	make:    mnist,
	command: []string{"python", "main.py", "--accel"},
}, {
	name: "examples/siamese_network", repo: "pytorch/examples", dir: "siamese_network",
	make:    mnist,
	command: []string{"python", "main.py"},
}, {
	name: "examples/vae", repo: "pytorch/examples", dir: "vae",
	make:    mnist,
	command: []string{"python", "main.py"},
}, {
	name: "examples/FSDP2 under torchrun", repo: "pytorch/examples", dir: "distributed/FSDP2",
	flags:   []string{"--gpu", "a100x2"},
	command: []string{"torchrun", "--standalone", "--nproc_per_node=2", "example.py"},
}, {
	name: "examples/ddp under torchrun", repo: "pytorch/examples", dir: "distributed/ddp",
	flags:   []string{"--gpu", "a100x4"},
	command: []string{"torchrun", "--standalone", "--nproc_per_node=4", "example.py"},
	steps:   1,
}, {
	name: "examples/tensor_parallelism FSDP and TP, 4 ranks", repo: "pytorch/examples", dir: "distributed/tensor_parallelism",
	flags:   []string{"--gpu", "a100x4"},
	command: []string{"torchrun", "--standalone", "--nproc_per_node=4", "fsdp_tp_example.py"},
}, {
	name: "examples/mnist_hogwild, two processes on a GPU", repo: "pytorch/examples", dir: "mnist_hogwild",
	make:    mnist,
	command: []string{"python", "main.py", "--cuda"},
	limit:   "GPU memory is sent from process to process (CUDA IPC), which the virtual GPU refuses",
	fails:   "operation not supported",
}, {
	name: "Ultralytics YOLO11n detection", repo: "ultralytics/ultralytics",
	make: []file{
		{"yard/images/train", images(64, 640, 480)}, {"yard/labels/train", boxes(64)}, {"yard/images/val", images(8, 640, 480)}, {"yard/labels/val", boxes(8)},
		{"yard.yaml", verbatim("path: yard\ntrain: images/train\nval: images/val\nnames: [cat, dog, eel, fox]\n")},
	},
	env:     []string{"PYTHONPATH=$CHECKOUT", "YOLO_OFFLINE=true"},
	command: []string{"yolo", "detect", "train", "model=yolo11n.yaml", "data=$CHECKOUT/yard.yaml", "epochs=1", "imgsz=640", "batch=16", "nbs=16", "workers=2", "device=0", "plots=False"},
}, {
	name: "open_clip ViT-B-32, synthetic data, amp", repo: "mlfoundations/open_clip",
	env:     []string{"PYTHONPATH=$CHECKOUT/src"},
	command: []string{"python", "-m", "open_clip_train.main", "--dataset-type", "synthetic", "--train-num-samples", "2048", "--model", "ViT-B-32", "--batch-size", "256", "--precision", "amp", "--workers", "2"},
}, {
	name: "timm train.py EfficientNet-B0, amp, EMA", repo: "huggingface/pytorch-image-models",
	make:    []file{{"photos/train", images(80, 320, 256, "cat", "dog", "eel", "fox")}, {"photos/validation", images(8, 320, 256, "cat", "dog", "eel", "fox")}},
	command: []string{"python", "train.py", "--data-dir", "photos", "--model", "efficientnet_b0", "--num-classes", "4", "-b", "64", "--amp", "--model-ema", "--opt", "adamw", "--lr", "1e-3", "-j", "2"},
}, {
	name: "DINO ViT-S/16", repo: "facebookresearch/dino",
	make:    []file{{"photos", images(64, 320, 256, "cat", "dog")}, {"../home/.cache/torch/hub/facebookresearch_xcit_main/hubconf.py", verbatim("dependencies = []\n")}},
	command: []string{"python", "main_dino.py", "--data_path", "photos", "--output_dir", ".", "--batch_size_per_gpu", "32", "--num_workers", "2"},
}, {
	name: "x-transformers enwik8", repo: "lucidrains/x-transformers",
	make:    []file{{"data/enwik8.gz", zipped(95_000_000)}},
	env:     []string{"PYTHONPATH=$CHECKOUT"},
	command: []string{"python", "train_enwik8.py"},
}, {
	name: "denoising-diffusion-pytorch, its README's loop", repo: "lucidrains/denoising-diffusion-pytorch",
	make: []file{{"photos", images(128, 160, 160)}, {"train.py", verbatim(`from denoising_diffusion_pytorch import Unet, GaussianDiffusion, Trainer

if __name__ == "__main__":
    net = Unet(dim=64, dim_mults=(1, 2, 4, 8), flash_attn=True)
    process = GaussianDiffusion(net, image_size=128, timesteps=1000, sampling_timesteps=250)
    Trainer(process, "photos", train_batch_size=32, gradient_accumulate_every=2, train_num_steps=1000, amp=True, calculate_fid=False).train()
`)}},
	command: []string{"python", "train.py"},
}, {
	name: "cleanrl PPO", repo: "vwxyzjn/cleanrl",
	command: []string{"python", "cleanrl/ppo.py"},
}, {
	name: "diffusers train_unconditional", repo: "huggingface/diffusers", dir: "examples/unconditional_image_generation",
	make:    []file{{"photos", images(96, 160, 160)}},
	env:     []string{"PYTHONPATH=$CHECKOUT/src"},
	command: []string{"accelerate", "launch", "--num_processes", "1", "--mixed_precision", "fp16", "train_unconditional.py", "--train_data_dir", "photos", "--resolution", "64", "--train_batch_size", "16", "--use_ema", "--logger", "tensorboard"},
}, {
	name: "TRL supervised fine-tuning, LoRA, 1B", repo: "huggingface/trl",
	make: []file{{"model", checkpoint(llama1B)}, {"texts/train.jsonl", texts(200, 1500)}},
	env:  []string{"PYTHONPATH=$CHECKOUT"},
	command: []string{"python", "trl/scripts/sft.py", "--model_name_or_path", "./model", "--dataset_name", "./texts", "--dtype", "bfloat16", "--bf16", "true", "--gradient_checkpointing", "true",
		"--per_device_train_batch_size", "4", "--max_length", "1024", "--use_peft", "--output_dir", "tuned", "--report_to", "none"},
}, {
	name: "nanochat base_train depth 12, compiled", repo: "karpathy/nanochat",
	env:     []string{"NANOCHAT_BASE_DIR=$CHECKOUT/base", "HF_HUB_OFFLINE=1"},
	setup:   [][]string{{"python", "-c", parquet}, {"python", "-m", "scripts.tok_train", "--max-chars", "2000000", "--vocab-size", "4096"}},
	command: []string{"python", "-m", "scripts.base_train", "--depth", "12", "--device-batch-size", "16", "--total-batch-size", "32768", "--num-iterations", "20", "--core-metric-every", "-1", "--sample-every", "-1", "--eval-every", "-1"},
}}

// parquet makes the shards of text that nanochat reads.
const parquet = `import os, random
import pyarrow as pa, pyarrow.parquet as pq
random.seed(1)
words = ["".join(random.choice("bdfgklmnprst") + random.choice("aeiou") for _ in range(random.randint(1, 4))) for _ in range(2000)]
folder = os.path.join(os.environ["NANOCHAT_BASE_DIR"], "base_data_climbmix")
os.makedirs(folder)
for n in range(2):
    table = pa.table({"text": [" ".join(random.choices(words, k=400)) for _ in range(1000)]})
    pq.write_table(table, os.path.join(folder, "shard_%05d.parquet" % n), row_group_size=100)
`

var (
	corpus = []file{{"corpus/train.txt", text(400_000)}, {"corpus/valid.txt", text(40_000)}, {"corpus/test.txt", text(40_000)}}
	mnist  = []file{{"../data/MNIST/raw", digits(2000, 1000)}}
)

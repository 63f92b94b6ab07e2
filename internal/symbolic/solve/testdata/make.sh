#!/bin/sh
# Makes the recordings of the solver's tests anew, in the repository's root:
#
#   sh internal/symbolic/solve/testdata/make.sh PYTHON
#
# Of each variant's recordings a few are kept: as few as the tape is exact with.
set -eu
python=$1
out=internal/symbolic/solve/testdata
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# some FILE LINES NAME: the lines of a packed file, as sed names them.
some() {
	gzip -dc "$dir/$1" | sed -n "$2" | gzip -9n >"$out/$3.jsonl.gz"
}

# tape FAMILY KEY [PLAN]: records what the tape with that key is made of.
tape() {
	go run ./internal/family/record -python "$python" -plan "${3:-base}" -only "$2" -keep "$dir" -out "$dir/tapes" "$1"
}

tape llama causal-lm/train/bf16/sdpa/none/80/untied-gqa
name=llama-causal-lm-train-bf16-sdpa-none-80-untied-gqa
some $name.solve.jsonl.gz '1p;5p;7p;8p;9p;10p;15p;16p' llama-bf16.solve
some $name.check.jsonl.gz '1,2p' llama-bf16.check

tape gpt2 causal-lm/train/amp-fp16/sdpa/full/80/tied
name=gpt2-causal-lm-train-amp-fp16-sdpa-full-80-tied
some $name.solve.jsonl.gz '1p;2p;4p;5p;8p;10p;13p;14p;16p' gpt2-amp-fp16-full.solve
some $name.check.jsonl.gz '2p' gpt2-amp-fp16-full.check

tape llama causal-lm/infer/bf16/sdpa/none/80/untied-gqa infer
name=llama-causal-lm-infer-bf16-sdpa-none-80-untied-gqa
some $name.solve.jsonl.gz '1p;5p;7p;8p;9p;10p;15p;16p' llama-infer.solve
some $name.check.jsonl.gz '1,2p' llama-infer.check

tape llama causal-lm/train/amp-bf16/sdpa/none/80/untied-gqa shard
name=llama-causal-lm-train-amp-bf16-sdpa-none-80-untied-gqa-fsdp2
some $name.solve.jsonl.gz '1p;5p;7p;8p;9p;10p;15p;16p' llama-fsdp2.solve
some $name.check.jsonl.gz '2p' llama-fsdp2.check

tape llama causal-lm/train/bf16/sdpa/full/80/untied-gqa/lora=q_proj+v_proj adapters
name=llama-causal-lm-train-bf16-sdpa-full-80-untied-gqa-lora=q_proj-v_proj
some $name.solve.jsonl.gz '1p;5p;7p;8p;9p;10p;15p;16p' llama-lora-full.solve
some $name.check.jsonl.gz '2p' llama-lora-full.check

tape torchvision-alexnet image-classification/train/fp32/sdpa/none/80/alexnet
name=torchvision-image-classification-train-fp32-sdpa-none-80-alexnet
some $name.solve.jsonl.gz '1,$p' alexnet-fp32.solve
some $name.check.jsonl.gz '1,$p' alexnet-fp32.check

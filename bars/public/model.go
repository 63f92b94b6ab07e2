package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// A llama is the shape of a model of Meta's family, as its config.json says it.
type llama struct {
	vocabulary, width, between, layers, heads, groups int
}

// llama1B is Llama 3.2 1B.
var llama1B = llama{128256, 2048, 8192, 16, 32, 8}

// checkpoint makes a folder with a model of zeros, which takes no disk since
// its weights are a hole in the file, and a tokenizer of single bytes.
func checkpoint(l llama) func(string) error {
	return func(dir string) error {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if err := l.weights(filepath.Join(dir, "model.safetensors")); err != nil {
			return err
		}
		for name, value := range map[string]any{"config.json": l.config(), "tokenizer.json": bytewise(), "tokenizer_config.json": map[string]any{
			"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": endOfText, "pad_token": endOfText,
		}} {
			data, err := json.Marshal(value)
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
				return err
			}
		}
		return nil
	}
}

func (l llama) config() map[string]any {
	return map[string]any{
		"architectures": []string{"LlamaForCausalLM"}, "model_type": "llama", "torch_dtype": "bfloat16",
		"vocab_size": l.vocabulary, "hidden_size": l.width, "intermediate_size": l.between, "num_hidden_layers": l.layers,
		"num_attention_heads": l.heads, "num_key_value_heads": l.groups, "max_position_embeddings": 8192,
		"tie_word_embeddings": true, "eos_token_id": endOfTextID, "bos_token_id": endOfTextID, "pad_token_id": endOfTextID,
	}
}

// weights writes a safetensors file: a length, a header in JSON, and a hole.
func (l llama) weights(path string) error {
	header, offset := map[string]any{"__metadata__": map[string]string{"format": "pt"}}, 0
	add := func(name string, shape ...int) {
		size := 2
		for _, n := range shape {
			size *= n
		}
		header[name] = map[string]any{"dtype": "BF16", "shape": shape, "data_offsets": []int{offset, offset + size}}
		offset += size
	}
	narrow := l.width / l.heads * l.groups
	add("model.embed_tokens.weight", l.vocabulary, l.width)
	add("model.norm.weight", l.width)
	for i := range l.layers {
		layer := "model.layers." + strconv.Itoa(i) + "."
		add(layer+"input_layernorm.weight", l.width)
		add(layer+"post_attention_layernorm.weight", l.width)
		add(layer+"self_attn.q_proj.weight", l.width, l.width)
		add(layer+"self_attn.k_proj.weight", narrow, l.width)
		add(layer+"self_attn.v_proj.weight", narrow, l.width)
		add(layer+"self_attn.o_proj.weight", l.width, l.width)
		add(layer+"mlp.gate_proj.weight", l.between, l.width)
		add(layer+"mlp.up_proj.weight", l.between, l.width)
		add(layer+"mlp.down_proj.weight", l.width, l.between)
	}
	text, err := json.Marshal(header)
	if err != nil {
		return err
	}
	text = append(text, bytes.Repeat([]byte(" "), (8-len(text)%8)%8)...)
	start := append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...)
	if err := os.WriteFile(path, start, 0o644); err != nil {
		return err
	}
	return os.Truncate(path, int64(len(start)+offset))
}

const (
	endOfText   = "<|endoftext|>"
	endOfTextID = 256
)

// bytewise is a tokenizer of the tokenizers library with a token for each byte.
// A byte that does not print stands as the letter that GPT-2 gave it.
func bytewise() map[string]any {
	vocabulary, next := map[string]int{}, rune(256)
	for b := range 256 {
		letter := rune(b)
		if b < '!' || b > '~' && b < 0xa1 || b == 0xad {
			letter = next
			next++
		}
		vocabulary[string(letter)] = b
	}
	level := map[string]any{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true}
	return map[string]any{
		"version": "1.0", "truncation": nil, "padding": nil, "normalizer": nil,
		"added_tokens": []any{map[string]any{
			"id": endOfTextID, "content": endOfText, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true,
		}},
		"pre_tokenizer": level, "post_processor": level, "decoder": level,
		"model": map[string]any{
			"type": "BPE", "dropout": nil, "unk_token": nil, "continuing_subword_prefix": nil, "end_of_word_suffix": nil,
			"fuse_unk": false, "byte_fallback": false, "vocab": vocabulary, "merges": []string{},
		},
	}
}

// texts makes a file of n lines of JSON with a text each.
func texts(n, size int) func(string) error {
	return func(path string) error {
		r := source()
		var b bytes.Buffer
		for range n {
			line, err := json.Marshal(map[string]string{"text": string(words(r, size))})
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "%s\n", line)
		}
		return os.WriteFile(path, b.Bytes(), 0o644)
	}
}

package symbolic_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// generating is a model of layers that keep a block of keys each, which a new token
// replaces by a longer one.
const generating = `plimsoll symbolic 1
body 0
+0 8*S input zeros
body 1
+0 2*S*h kv_cache cat
body 2
+1 2*h temporary mm
+0 2*Y*h kv_cache cat
-layers.forward 0 @before
-layers.forward 1
body 3
+0 4*S temporary cat ?Y>9
-batch 0 @first
tape causal-lm/infer
part first batch - up 0 1 -=0
part first layers.forward layers up 0 2 one:first=1 one=1 one:last=1
part decode layers.forward layers up 0 2 one:first=2 one=2 one:last=2
part decode end - up 0 1 -=3
end
`

// Each token sees one key more than the one before, and gives back what that one
// left; S is what the prompt of the recording would have been.
func TestPlayOfGeneration(t *testing.T) {
	t.Parallel()
	tp := read(t, generating, "causal-lm/infer")
	dims := symbolic.Dims{"S": 6, "h": 4}
	var w tape.Writer
	played, err := tp.Play(tinyEnv(2, dims), symbolic.Plan{Micros: []int{1}, Decode: 4}, &w, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := `idle: +48
forward: +48 +48 +8 +56 -1 -3 +8 +56 -2 -5
idle: -0
forward: +8 +64 -4 -7 +8 +64 -6 -9 +8 +72 -8 -11 +8 +72 -10 -13 +8 +80 -12 -15 +8 +80 -14 -17
idle: +32
`
	if got := told(w.Tape()); got != want {
		t.Errorf("played\n%s\nwant\n%s", got, want)
	}
	if len(played.Starts) != 6 {
		t.Errorf("%d starts, want one of the prompt, one of each token and the end", len(played.Starts))
	}
	if dims["S"] != 6 || len(dims) != 2 {
		t.Errorf("Play changed the dimensions it was given: %v", dims)
	}
}

// sharded is a model of layers of two parameters and an embedding, of which each
// card has a part.
const sharded = `plimsoll symbolic 1
body 0
+0 4*V*h/D parameter empty
body 1
+0 4*f*h/D parameter empty
+1 4*h/D parameter empty
body 2
+0 2*D*Pl temporary empty
+1 Cl2 temporary split_with_sizes_copy
+2 Ml temporary _chunk_cat
+3 4*Pr temporary empty
+4 Cr4 temporary split_with_sizes_copy
+5 Mr temporary _chunk_cat
tape causal-lm/train/fsdp2
part load begin - up 0 1 -=0
part load layers.load layers up 0 2 one:first=1 one=1 one:last=1
part first forward - up 0 6 -=2
param embed.weight - - 0 float32 trained begin:0:0 - V/D h
param layers.{}.up.weight layers - 0 float32 trained layers.load:0:0 - f/D h
param layers.{}.up.bias layers - 0 float32 trained layers.load:1:0 - h/D
end
`

// The tables' sizes are those that PyTorch asked for: 128 threads copy 2,048 bytes,
// more of them where an A100 has no room for so many blocks.
func TestPlayOfShards(t *testing.T) {
	t.Parallel()
	tp := read(t, sharded, "causal-lm/train/fsdp2")
	for name, c := range map[string]struct {
		dims symbolic.Dims
		want string
	}{
		"two cards": {
			dims: symbolic.Dims{"V": 1024, "h": 256, "f": 512, "D": 2},
			// A layer has 65536+128 elements: 64+1 tiles of 2 bytes each, 128+1 of 4.
			want: "forward: +262656 +592 +1144 +524288 +2088 +2112\n",
		},
		"more than the card has places for": {
			dims: symbolic.Dims{"V": 1024, "h": 8192, "f": 8192, "D": 8},
			// 8192+1 tiles for each of 8 cards on 3456 places: 19 rounds, 5 over cards and 4 along a tensor.
			want: "forward: +134234112 +16464 +131200 +4194304 +8232 +16448\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := tinyEnv(3, c.dims)
			env.Device = kernel.Device{Capability: 80, Multiprocessors: 108, ThreadsPerMultiprocessor: 2048}
			var w tape.Writer
			if _, err := tp.Play(env, symbolic.Plan{Micros: []int{1}}, &w, nil); err != nil {
				t.Fatal(err)
			}
			_, got, _ := strings.Cut(told(w.Tape()), "\n")
			if got != c.want {
				t.Errorf("played\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// The first layer's group has a name of its own, since later ones may be others.
func TestGroupsOf(t *testing.T) {
	t.Parallel()
	shards := []symbolic.Shard{{"", 100}, {"layers.0", 1024}, {"layers.0", 8}, {"layers.1", 2048}, {"layers.2", 4096}, {"", 16}}
	d := symbolic.GroupsOf(shards, symbolic.Dims{"D": 2}, kernel.Device{Multiprocessors: 108, ThreadsPerMultiprocessor: 2048})
	// A table of what is gathered has 8 bytes for each of 4 numbers a tensor, one more, and each 2,048 bytes.
	want := symbolic.Dims{
		"D": 2, "Pf": 1032, "Pl": 4096, "Pr": 116, "Mf": 8 * (12 + 2 + 3), "Ml": 8 * (6 + 2 + 8), "Mr": 8 * (12 + 2 + 2),
		"Cf2": 8 * (8 + 1 + 2), "Cf4": 8 * (8 + 1 + 3), "Cl2": 8 * (4 + 1 + 4), "Cl4": 8 * (4 + 1 + 8), "Cr2": 8 * (8 + 1 + 2), "Cr4": 8 * (8 + 1 + 2),
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Error(diff)
	}
	for name := range d {
		last, first := symbolic.LastOfGroup(name)
		if symbolic.DerivedFromShards(name) != (name != "D") || first != (strings.HasPrefix(name[1:], "f")) || first && d[last] == 0 {
			t.Errorf("%s follows: %v; the last layer's is %q", name, symbolic.DerivedFromShards(name), last)
		}
	}
}

// What FSDP2 gathers is on one stream, with what a card has of it in that type, what
// is left of gradients on another, and what they are reduced from on the default one.
func TestStreamsOfShards(t *testing.T) {
	t.Parallel()
	text := strings.Replace(sharded, `+0 2*D*Pl temporary empty
+1 Cl2 temporary split_with_sizes_copy
+2 Ml temporary _chunk_cat
+3 4*Pr temporary empty
+4 Cr4 temporary split_with_sizes_copy
+5 Mr temporary _chunk_cat
`, `+0 2*Pl temporary empty
+1 2*D*Pl temporary empty
+2 Cl2 temporary split_with_sizes_copy
+3 4*D*Pl temporary empty
+4 Ml temporary _chunk_cat
+5 4*Pl gradient empty
+6 2*Pl temporary _to_copy
+7 2*D*V temporary mm
+8 4*D*Pr temporary empty
`, 1)
	tp := read(t, strings.Replace(text, "up 0 6", "up 0 9", 1), "causal-lm/train/fsdp2")
	var w tape.Writer
	if _, err := tp.Play(tinyEnv(3, symbolic.Dims{"V": 1024, "h": 256, "f": 512, "D": 2}), symbolic.Plan{Micros: []int{1}}, &w, nil); err != nil {
		t.Fatal(err)
	}
	var got []uint64
	for e := range w.Tape().Len() {
		if ev := w.Tape().Event(e); ev.Kind == tape.Alloc && ev.Phase == tape.Forward {
			got = append(got, w.Tape().StreamHandle(ev.Stream))
		}
	}
	if want := []uint64{1, 1, 0, 0, 0, 2, 2, 0, 1}; !slices.Equal(got, want) {
		t.Errorf("streams are %v, want %v", got, want)
	}
}

// Adapters on the parameters of experts stand where no module has a weight.
func TestAdaptsParameters(t *testing.T) {
	layer := []symbolic.Param{{Name: "layers.{}.q.lora_A.default.weight"}, {Name: "layers.{}.q.base_layer.weight"}}
	expert := []symbolic.Param{{Name: "layers.{}.experts.lora_A.default.weight"}, {Name: "layers.{}.experts.base_layer.down"}}
	if (&symbolic.Tape{Params: layer}).AdaptsParameters() || !(&symbolic.Tape{Params: append(layer, expert...)}).AdaptsParameters() {
		t.Error("a layer is taken for an expert, or the other way round")
	}
}

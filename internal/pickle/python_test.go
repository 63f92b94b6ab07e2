package pickle

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os/exec"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/internal/input"
)

// pickler writes random data with CPython: each line is a pickle in base64,
// a tab, and the same data as JSON. Integers are strings in the JSON, since
// JSON has no 64 bits.
const pickler = `
import base64, json, pickle, random, sys
rnd = random.Random(7)
shared = [{"name": "f", "line": i} for i in range(5)]
ints = [0, 1, 255, 256, 65535, 65536, -1, -129, 2**31-1, -2**31, 2**31, 2**59-1, 2**59, -2**59, -2**59-1,
        2**62, -2**62, 2**63-1, -2**63, 2**63, 2**64-1]
def value(depth):
    k = rnd.randrange(9 if depth < 5 else 5)
    if k == 0: return rnd.choice([None, True, False, (), ""])
    if k == 1: return rnd.choice(ints)
    if k == 2: return rnd.random()
    if k == 3: return rnd.choice(["a", "name", "\u00e9\u4e2d", "x" * 300, "\U0001f600"]) + str(rnd.randrange(20))
    if k == 4: return rnd.choice(shared)
    if k == 5: return tuple(value(depth + 1) for _ in range(rnd.randrange(5)))
    if k == 6: return [value(depth + 1) for _ in range(rnd.choice([1, 3, 1001, 2000] if depth == 1 else [0, 1, 3]))]
    return {str(i): value(depth + 1) for i in range(rnd.choice([1, 2, 1001, 2500] if depth == 1 else [0, 1, 4]))}
def plain(v):
    if isinstance(v, bool) or v is None or isinstance(v, (str, float)): return v
    if isinstance(v, int): return "int:%d" % v
    if isinstance(v, dict): return {k: plain(x) for k, x in v.items()}
    return [plain(x) for x in v]
for n in range(60):
    v = {"v%d" % i: value(1) for i in range(4)}
    protocol = 2 + n % (pickle.HIGHEST_PROTOCOL - 1)
    print(base64.b64encode(pickle.dumps(v, protocol)).decode(), json.dumps(plain(v)), sep="\t")
`

func TestReadsWhatPythonWrites(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	out, err := exec.CommandContext(t.Context(), python, "-c", pickler).Output()
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range bytes.Split(bytes.TrimSpace(out), []byte("\n")) {
		encoded, plain, _ := bytes.Cut(line, []byte("\t"))
		data := make([]byte, base64.StdEncoding.DecodedLen(len(encoded)))
		n, err := base64.StdEncoding.Decode(data, encoded)
		if err != nil {
			t.Fatal(err)
		}
		got, err := load(data[:n], input.Limits{})
		if err != nil {
			t.Fatalf("pickle %d: %v", i, err)
		}
		var want any
		if err := json.Unmarshal(plain, &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, namedInts(got)); diff != "" {
			t.Fatalf("pickle %d (-python +ours):\n%.2000s", i, diff)
		}
	}
}

// namedInts writes integers as the pickler's JSON does.
func namedInts(v any) any {
	switch v := v.(type) {
	case int64:
		return "int:" + strconv.FormatInt(v, 10)
	case uint64:
		return "int:" + strconv.FormatUint(v, 10)
	case []any:
		for i := range v {
			v[i] = namedInts(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = namedInts(v[k])
		}
	}
	return v
}

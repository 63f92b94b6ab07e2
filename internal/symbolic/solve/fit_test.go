package solve

import (
	"math"
	"slices"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
)

// dimsOfPlaces are the dimensions of ten recordings, as the recorder draws them.
var dimsOfPlaces = []symbolic.Dims{
	{"B": 5, "S": 768, "h": 320, "a": 5, "d": 64, "f": 704, "V": 1984, "C": 7},
	{"B": 6, "S": 1024, "h": 448, "a": 7, "d": 64, "f": 832, "V": 4288, "C": 7},
	{"B": 7, "S": 832, "h": 576, "a": 9, "d": 128, "f": 1088, "V": 8128, "C": 7},
	{"B": 11, "S": 512, "h": 320, "a": 7, "d": 128, "f": 704, "V": 13504, "C": 7},
	{"B": 1, "S": 4096, "h": 448, "a": 5, "d": 64, "f": 1088, "V": 1984, "C": 7},
	{"B": 37, "S": 640, "h": 576, "a": 9, "d": 64, "f": 832, "V": 4288, "C": 7},
	{"B": 2, "S": 448, "h": 320, "a": 9, "d": 128, "f": 1088, "V": 8128, "C": 7},
	{"B": 1, "S": 192, "h": 448, "a": 7, "d": 64, "f": 704, "V": 1984, "C": 7},
	{"B": 7, "S": 197, "h": 576, "a": 5, "d": 128, "f": 832, "V": 13504, "C": 7},
	{"B": 31, "S": 250, "h": 320, "a": 7, "d": 64, "f": 1088, "V": 8128, "C": 7},
}

var testCard = kernel.Device{Capability: 80, Multiprocessors: 108, ThreadsPerMultiprocessor: 2048}

func testFitter() *fitter { return fitterAt(dimsOfPlaces) }

func fitterAt(places []symbolic.Dims) *fitter {
	var recs []*Recording
	var sites []site
	for _, d := range places {
		recs = append(recs, &Recording{Job: Job{Dims: d, Device: testCard}})
		sites = append(sites, site{d, testCard})
	}
	return newFitter(sites, atomsOf(recs), 4)
}

// valuesAt evaluates an expression at all places.
func valuesAt(t *testing.T, e symbolic.Expr) []int64 {
	t.Helper()
	var list []int64
	for _, d := range dimsOfPlaces {
		v, err := e.Eval(d, testCard)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, v)
	}
	return list
}

// What a formula gives is found again as the formula, or as one that is the
// same.
func TestFit(t *testing.T) {
	t.Parallel()
	f := testFitter()
	for text, label := range map[string]string{
		"0":                              "",
		"4":                              "",
		"2*B*S*h":                        "mm",
		"6*B*S*f":                        "cat",
		"4*B*S*S*a":                      "bmm",
		"2*V*h":                          "empty",
		"4*B*up(S,32)*a":                 "",
		"2*B*S*a*d+2*B*S*h":              "",
		"4*h*h+4*h":                      "",
		"8*B*S+16":                       "",
		"reduce_outer(h,B*S,4)":          "sum_dim_IntList raw",
		"reduce_outer_semaphores(h,B*S)": "sum_dim_IntList raw",
		"cublas_workspace()":             "mm raw",
		"efficient_logsumexp(B*a,S)":     "_scaled_dot_product_efficient_attention",
		"flash_backward_query(B*a,S,d)":  "_scaled_dot_product_flash_attention_backward",
		"cublaslt_workspace(h,f)":        "addmm raw",
		"index_put_sort(B*S,B)":          "_index_put_impl_ raw",
	} {
		e := symbolic.MustParse(text)
		want := valuesAt(t, e)
		present := everywhere(len(dimsOfPlaces))
		values := slices.Clone(want)
		for i, v := range want {
			present[i] = v != 0 || text == "0"
		}
		got := f.fit(label, values, present)
		if got.error != 0 {
			t.Errorf("%s: found %s, off by %g", text, got.expr, got.error)
			continue
		}
		for i, v := range valuesAt(t, got.expr) {
			if present[i] && v != want[i] {
				t.Errorf("%s: found %s, which is %d and not %d at %v", text, got.expr, v, want[i], dimsOfPlaces[i])
			}
		}
		if s := got.expr.String(); s != e.String() {
			t.Logf("%s: found %s", text, s)
		}
	}
}

// A size that no formula gives is marked with how far the nearest is off.
func TestNear(t *testing.T) {
	t.Parallel()
	f := testFitter()
	values := valuesAt(t, symbolic.MustParse("2*B*S*h"))
	for i := range values {
		values[i] += values[i] / 50 * int64(i%3)
	}
	got := f.fit("mm", values, everywhere(len(dimsOfPlaces)))
	if got.error <= 0 || got.error > 0.021 {
		t.Fatalf("%s, off by %g", got.expr, got.error)
	}
	for i, v := range valuesAt(t, got.expr) {
		if off := math.Abs(float64(values[i])/float64(v) - 1); off > got.error*1.01+1e-5 {
			t.Errorf("%d and not %d: off by %g", v, values[i], off)
		}
	}
}

// Values of some recordings only are searched among those.
func TestFitAmongSome(t *testing.T) {
	t.Parallel()
	f := testFitter()
	values := valuesAt(t, symbolic.MustParse("2*B*S*h"))
	present := everywhere(len(dimsOfPlaces))
	for i := range values {
		if i%3 == 0 {
			values[i], present[i] = 0, false
		}
	}
	if got := f.fit("mm", values, present); got.expr.String() != "2*B*S*h" || got.error != 0 {
		t.Errorf("found %s, off by %g", got.expr, got.error)
	}
	few := f.among(present)
	if got := few.fit("mm", pick(values, present), slices.Repeat([]bool{true}, len(few.sites))); got.expr.String() != "2*B*S*h" {
		t.Errorf("found %s among few", got.expr)
	}
}

// A condition is true exactly where the event is, and lies at a known threshold
// where one is between.
func TestGuard(t *testing.T) {
	t.Parallel()
	f := testFitter()
	for text, want := range map[string]string{
		"B*S>3072":         "B*S>3072",
		"B<=1":             "B<=1",
		"up(S,64)-1*S>0":   "", // of sequences that are padded
		"S>1024":           "",
		"B*S>3072&S<=800":  "",
		"h>400&B*S<=6000":  "",
		"S-1*up(S,16)<=-1": "",
	} {
		g, err := symbolic.ParseGuard(text)
		if err != nil {
			t.Fatal(err)
		}
		present := make([]bool, len(dimsOfPlaces))
		for i, d := range dimsOfPlaces {
			if present[i], err = g.Holds(d, testCard); err != nil {
				t.Fatal(err)
			}
		}
		got := f.guard(present)
		if !got.ok || want != "" && got.guard.String() != want {
			t.Errorf("%s: found %v %s", text, got.ok, got.guard)
			continue
		}
		for i, d := range dimsOfPlaces {
			if ok, err := got.guard.Holds(d, testCard); ok != present[i] || err != nil {
				t.Errorf("%s: found %s, which is %v at %v", text, got.guard, ok, d)
			}
		}
	}
}

// Where one example, or a length that is no multiple, makes the difference, this is
// what is found, with the limit itself: products and lengths that have a limit between
// what was recorded are an accident. A length that lacks one of a multiple is none.
func TestPlainGuard(t *testing.T) {
	t.Parallel()
	places := slices.Concat(dimsOfPlaces, []symbolic.Dims{
		{"B": 1, "S": 197, "h": 576, "a": 9, "d": 128, "f": 1088, "V": 13504, "C": 7},
		{"B": 1, "S": 250, "h": 448, "a": 7, "d": 64, "f": 832, "V": 8128, "C": 7},
	})
	f := fitterAt(places)
	for _, want := range []string{"up(S,8)-1*S>0", "up(S,8)-1*S<=0", "B<=1&up(S,8)-1*S>0", "B>1&up(S,8)-1*S<=0", "B+up(S,8)-1*S>1"} {
		g, err := symbolic.ParseGuard(want)
		if err != nil {
			t.Fatal(err)
		}
		var present []bool
		for _, d := range places {
			ok, err := g.Holds(d, testCard)
			if err != nil {
				t.Fatal(err)
			}
			present = append(present, ok)
		}
		if got := f.guard(present); got.guard.String() != want {
			t.Errorf("%s, not %s", got.guard, want)
		}
	}
}

// No condition is found where none parts the recordings.
func TestNoGuard(t *testing.T) {
	t.Parallel()
	same := []symbolic.Dims{{"B": 2, "S": 100}, {"B": 2, "S": 100}, {"B": 3, "S": 200}}
	var recs []*Recording
	var sites []site
	for _, d := range same {
		recs = append(recs, &Recording{Job: Job{Dims: d}})
		sites = append(sites, site{d, testCard})
	}
	if g := newFitter(sites, atomsOf(recs), 2).guard([]bool{true, false, true}); g.ok {
		t.Errorf("found %s", g.guard)
	}
}

// TestFewValuesProveNothing: any constant agrees with the one recording that has
// an event; it is exact only if the operator asks for it elsewhere.
func TestFewValuesProveNothing(t *testing.T) {
	f := testFitter()
	n := len(f.sites)
	values, present := make([]int64, n), make([]bool, n)
	s := f.sites[n-1]
	values[n-1], present[n-1] = 2*s.dims["B"]*s.dims["S"]*s.dims["h"], true
	if got := f.fit("mm", values, present); got.error == 0 {
		t.Errorf("one value is taken for %s", got.expr)
	}
	for i, s := range f.sites {
		values[i], present[i] = 2*s.dims["B"]*s.dims["S"]*s.dims["h"], true
	}
	f.fit("mm", values, present)
	if e, ok := f.elsewhere("mm", values, present); !ok || e.String() != "2*B*S*h" {
		t.Errorf("elsewhere it is %s, %t", e, ok)
	}
}

func TestResume(t *testing.T) {
	of := func(sizes ...int64) (list []stretch) {
		for _, b := range sizes {
			list = append(list, stretch{bytes: b})
		}
		return list
	}
	all := of(9, 1, 2, 3, 4, 5)
	if more, less := resume(all, all[1:]); more != 1 || less != 0 {
		t.Errorf("one too many played: %d, %d", more, less)
	}
	if more, less := resume(all[1:], all); more != 0 || less != 1 {
		t.Errorf("one too many recorded: %d, %d", more, less)
	}
	if more, less := resume(of(7, 1, 2, 3, 4), of(8, 1, 2, 3, 4)); more != 0 || less != 0 {
		t.Errorf("another size: %d, %d", more, less)
	}
}

// What a formula is off by is told from recordings that did not choose it.
func TestMiddle(t *testing.T) {
	t.Parallel()
	if c, off := middle([]float64{2, 1, 8}); c != math.Sqrt(8) || math.Abs(off-(8/math.Sqrt2-1)) > 1e-9 {
		t.Errorf("middle is %v, off by %v", c, off)
	}
	if _, off := middle([]float64{1, 4}); off != 3 {
		t.Errorf("two ratios are off by %v, want all that is between them", off)
	}
}

// Few recordings may have a dimension of one size: it is no part of a formula.
func TestPlainCoefficients(t *testing.T) {
	t.Parallel()
	f := testFitter()
	values, present := make([]int64, len(dimsOfPlaces)), make([]bool, len(dimsOfPlaces))
	for i, d := range dimsOfPlaces { // both with heads of 64
		if present[i] = d["B"] == 1; present[i] {
			values[i] = 2 * d["S"] * d["a"] * d["d"]
		}
	}
	got, ok := f.one(values, present)
	if !ok {
		t.Fatal("no formula")
	}
	if v, err := got.Eval(symbolic.Dims{"B": 1, "S": 100, "a": 3, "d": 80, "h": 240}, testCard); err != nil || v != 2*100*3*80 {
		t.Errorf("%s is %d with heads of 80, %v", got, v, err)
	}
}

// Where a function decides how an operator works, it is taken even where all recordings
// show no more than a product.
func TestDecides(t *testing.T) {
	t.Parallel()
	f := testFitter()
	const want = "unpacked_weight(B*S,f,h,2)"
	values := valuesAt(t, symbolic.MustParse(want))
	present := make([]bool, len(values))
	for i, v := range values {
		present[i] = v > 0
	}
	if all(present) {
		t.Fatal("all products unpack their weight")
	}
	if got := f.fit("_dequant_linear_fallback", values, present).expr.String(); got != want {
		t.Errorf("%s, not %s", got, want)
	}
	many := f.among(present)
	if got := many.fit("_dequant_linear_fallback", pick(values, present), only(present, present)).expr; !callsKernel(got) {
		t.Errorf("%s, which does not say when the weight stays packed", got)
	}
}

// Temporary storage of the search for segments and of their sum is as large on one card
// at these sizes: which is meant, the order of an operator's calls says.
func TestInTurn(t *testing.T) {
	t.Parallel()
	has := everywhere(len(dimsOfPlaces))
	has[5] = false // so many tokens would tell
	f := testFitter().among(has)
	values := pick(valuesAt(t, symbolic.MustParse("embedding_unique(B*S)")), has)
	present := make([]bool, len(values))
	for i, v := range values {
		present[i] = v > 0
	}
	for _, c := range [][2]string{{"embedding_sort", "embedding_unique(B*S)"}, {"embedding_unique", "embedding_scan(B*S,V)"}} {
		f.turn = c[0]
		if got := f.fit("embedding_dense_backward raw", values, present).expr.String(); got != c[1] {
			t.Errorf("after %s: %s, not %s", c[0], got, c[1])
		}
	}
}

// What few recordings show of a reduction is that of sums in float32 over a dimension as
// it is: of others, that give the same, none is meant.
func TestLikelyReduction(t *testing.T) {
	t.Parallel()
	f := testFitter()
	const want = "reduce_outer(h,B*S,4)"
	values := valuesAt(t, symbolic.MustParse(want))
	present := make([]bool, len(values))
	for i, v := range values {
		present[i] = v > 0
	}
	if got := f.fit("sum_dim_IntList raw", values, present).expr.String(); got != want {
		t.Errorf("%s, not %s", got, want)
	}
}

// Where only recordings of one example have the buffers of a sum over its tokens, it is
// one over those of each example.
func TestSumOfExamples(t *testing.T) {
	t.Parallel()
	for _, want := range []string{"reduce_middle(h,B*h,S,4)", "reduce_middle_semaphores(h,B*h,S)"} {
		has := make([]bool, len(dimsOfPlaces))
		var values []int64
		var present []bool
		for i, v := range valuesAt(t, symbolic.MustParse(want)) {
			if has[i] = v == 0 || dimsOfPlaces[i]["B"] == 1; has[i] {
				values, present = append(values, v), append(present, v > 0)
			}
		}
		if got := testFitter().among(has).fit("sum_dim_IntList raw", values, present).expr.String(); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}

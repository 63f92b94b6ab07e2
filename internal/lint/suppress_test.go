package lint

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/pyast"
)

// zeros reports each call of torch.zeros, ones each of torch.ones.
func callRule(code, name, call string) *Rule {
	return &Rule{Code: code, Name: name, Severity: Warning, Run: func(p *Pass) {
		p.CallsOf(func(c *pyast.Call) { p.Report(c, "it is there") }, call)
	}}
}

func TestSuppress(t *testing.T) {
	zeros, ones := callRule("GPU001", "no-zeros", "torch.zeros"), callRule("GPU002", "no-ones", "torch.ones")
	other := &Rule{Code: "GPU003", Name: "not-run"}
	all := []*Rule{zeros, ones, other, UnusedIgnore}
	active := []*Rule{zeros, ones, UnusedIgnore}
	for name, tt := range map[string]struct{ src, want, fixed string }{
		"none":             {"x = torch.zeros(1)\n", "2 GPU001", ""},
		"by code":          {"x = torch.zeros(1)  # plimsoll: ignore[GPU001]\n", "", ""},
		"by name":          {"x = torch.zeros(1)  # plimsoll: ignore[no-zeros]\n", "", ""},
		"another":          {"x = torch.zeros(1)  # why not  # plimsoll: ignore[GPU002]\n", "2 GPU001,2 GPU900", "x = torch.zeros(1)  # why not\n"},
		"two, one needed":  {"x = torch.zeros(1)  # plimsoll: ignore[GPU001,GPU002] as is\n", "2 GPU900", "x = torch.zeros(1)  # plimsoll: ignore[GPU001] as is\n"},
		"above":            {"# plimsoll: ignore[GPU001]\n# for a reason\nx = torch.zeros(1)\n", "", ""},
		"above, unused":    {"# plimsoll: ignore[GPU001]\nx = 1\ny = torch.zeros(1)\n", "2 GPU900,4 GPU001", "x = 1\ny = torch.zeros(1)\n"},
		"end of statement": {"x = torch.zeros(\n    1,\n)  # plimsoll: ignore[GPU001]\n", "", ""},
		"in a long one":    {"f(\n    torch.zeros(1),\n    2,  # plimsoll: ignore[GPU001]\n)\n", "", ""},
		"not into a body":  {"for x in torch.zeros(1):\n    y = 1  # plimsoll: ignore[GPU001]\n", "2 GPU001,3 GPU900", "for x in torch.zeros(1):\n    y = 1\n"},
		"head of a loop":   {"for x in torch.zeros(1):  # plimsoll: ignore[GPU001]\n    y = 1\n", "", ""},
		"file":             {"x = torch.zeros(1)\ny = torch.zeros(2)\n# plimsoll: file-ignore[GPU001]\n", "", ""},
		"no brackets":      {"x = torch.zeros(1)  # plimsoll: ignore\n", "2 GPU001,2 GPU900", ""},
		"unknown":          {"x = torch.zeros(1)  # plimsoll: ignore[GPU777]\n", "2 GPU001,2 GPU900", "x = torch.zeros(1)\n"},
		"a rule not run":   {"x = 1  # plimsoll: ignore[GPU003]\n", "", ""},
		"noqa":             {"x = torch.zeros(1)  # noqa: E501, GPU001\n", "", ""},
		"noqa, unused":     {"x = 1  # noqa: GPU001\n", "", ""},
		"bare noqa":        {"x = torch.zeros(1)  # noqa\n", "2 GPU001", ""},
		"in a string":      {"x = torch.zeros(1), '# plimsoll: ignore[GPU001]'\n", "2 GPU001", ""},
	} {
		t.Run(name, func(t *testing.T) {
			src := "import torch\n" + tt.src
			findings, err := Check(active, Source{Path: "a.py", Text: []byte(src)})
			if err != nil {
				t.Fatal(err)
			}
			f, err := NewProject([]string{"a.py"}).open("a.py", []byte(src), pyast.Parse)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			var edits []Edit
			for _, x := range Suppress(f, findings, all, active) {
				line, _ := f.Module.Position(x.Span.Start)
				got = append(got, string(rune('0'+line))+" "+x.Rule.Code)
				if x.Fix != nil {
					edits = append(edits, x.Fix.Edits...)
				}
			}
			if s := strings.Join(got, ","); s != tt.want {
				t.Errorf("%s, want %s", s, tt.want)
			}
			if tt.fixed != "" {
				if text, _ := Apply([]byte(src), edits); string(text) != "import torch\n"+tt.fixed {
					t.Errorf("fixed:\n%s", text)
				}
			}
		})
	}
}

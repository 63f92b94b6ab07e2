package lint

import "testing"

// TestLoading follows datasets to their loaders and decoders in other files.
func TestLoading(t *testing.T) {
	files := []Source{
		{Path: "data.py", Text: []byte("from PIL import Image\nfrom torch.utils.data import Dataset\n\ndef read(p):\n    return Image.open(p)\n\n" +
			"class A(Dataset):\n    def __getitem__(self, i):\n        return read(self.paths[i])\n\nclass B(Dataset):\n    def __getitem__(self, i):\n        return self.x[i]\n")},
		{Path: "main.py", Text: []byte("from torch.utils.data import DataLoader, random_split\nfrom data import A, B\n\n" +
			"a = DataLoader(A(), 4, num_workers=2)\nb = DataLoader(dataset=B(), batch_size=4)\n")},
	}
	checked := 0
	rule := &Rule{Code: "GPU000", Name: "see", Run: func(p *Pass) {
		for _, c := range p.Classes {
			checked++
			if got := p.LoadedByWorkers(c); got != (c.Name == "A") {
				t.Errorf("%s: loaded by workers: %t", c.Name, got)
			}
			if got := p.LoadDecodes(c.Qual); (got == "reads images") != (c.Name == "A") {
				t.Errorf("%s: %q", c.Name, got)
			}
		}
	}}
	if _, err := Check([]*Rule{rule}, files...); err != nil || checked != 2 {
		t.Error(checked, err)
	}
}

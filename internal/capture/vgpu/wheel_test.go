package vgpu

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRequiredVersions(t *testing.T) {
	for name, c := range map[string]struct {
		metadata string
		want     []string
	}{
		"a wheel of 2.15": {
			"Metadata-Version: 2.4\nName: torch\nRequires-Dist: filelock\n" +
				"Requires-Dist: nvidia-cudnn-cu13==9.26.0.51; platform_system == \"Linux\"\n" +
				"Requires-Dist: nvidia-cusparselt-cu13==0.8.1; platform_system == \"Linux\"\n" +
				"Requires-Dist: nvidia-nccl-cu13==2.30.7; platform_system == \"Linux\"\n\n# PyTorch\n",
			[]string{"PLIMSOLL_CUDNN=92600", "PLIMSOLL_CUSPARSELT=801", "PLIMSOLL_NCCL=23007"},
		},
		"a wheel of 2.0": {
			"Requires-Dist: nvidia-cudnn-cu11 (==8.5.0.96) ; platform_system == \"Linux\"\nRequires-Dist: nvidia-cublas-cu11 (==11.10.3.66) ; x\n" +
				"Requires-Dist: nvidia-nccl-cu11 (==2.14.3) ; x\n",
			[]string{"PLIMSOLL_CUDNN=8500", "PLIMSOLL_CUBLAS=111003", "PLIMSOLL_NCCL=21403"},
		},
		"requirements after the header do not count": {"Name: torch\n\nRequires-Dist: nvidia-nccl-cu12==2.21.5\n", nil},
		"a range is not a version":                   {"Requires-Dist: nvidia-nccl-cu12>=2.21\n", nil},
		"nothing":                                    {"", nil},
	} {
		if diff := cmp.Diff(requiredVersions([]byte(c.metadata)), c.want); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

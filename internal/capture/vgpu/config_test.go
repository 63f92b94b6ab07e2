package vgpu

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/unit"
)

func TestConfigEnv(t *testing.T) {
	c := Config{Name: "NVIDIA H100 80GB HBM3", Count: 4, Capability: 90, Multiprocessors: 132, Capacity: 85021163520, Context: 500 * unit.MiB, Log: "/tmp/log"}
	got := c.Env()[0]
	for _, want := range []string{
		"PLIMSOLL_VGPU=name=NVIDIA H100 80GB HBM3;", ";devices=4;", ";capability=90;", ";multiprocessors=132;", ";threads=2048;",
		";shared_optin=232448;", ";capacity=85021163520;", ";nvml_total=85021163520;", ";context=524288000;", ";log=/tmp/log;",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
}

func TestConfigCannotBeSmuggled(t *testing.T) {
	got := Config{Name: "x;capacity=1", Capability: 80, Capacity: unit.GiB}.Env()[0]
	if strings.Count(got, ";capacity=") != 1 {
		t.Errorf("a name set a capacity: %s", got)
	}
}

func TestCapabilityLimits(t *testing.T) {
	for i := 1; i < len(capabilityLimits); i++ {
		if capabilityLimits[i-1].capability >= capabilityLimits[i].capability {
			t.Errorf("row %d is out of order", i)
		}
	}
	for capability, threads := range map[int]int{30: 2048, 75: 1024, 80: 2048, 86: 1536, 88: 1536, 89: 1536, 90: 2048, 120: 1536, 999: 1536} {
		if got := limitsOf(capability).threads; got != threads {
			t.Errorf("%d has %d threads per multiprocessor, want %d", capability, got, threads)
		}
	}
}

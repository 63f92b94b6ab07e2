package idle

import "github.com/plimsoll-dev/plimsoll/finding"

// causesOfClocks are those in which kernels run, and slowly.
var causesOfClocks = []Cause{
	{
		ID:     "throttled-heat",
		Title:  "the GPU is too hot and lowers its clocks",
		Needs:  [][]string{{"clock-low"}, {"says-heat"}},
		Else:   "a power supply that asks for less (power brake)",
		Decide: "read the temperature and its limit while kernels run",
		Remedies: []Fix{
			{"cool it: clean filters, raise fan speeds, give air to cards beside each other", "", finding.SameNumbers},
			{"lower the power limit by a tenth, which costs less than throttling", "nvidia-smi -pl", finding.SameNumbers},
		},
		lost: lostToClocks,
	},
	{
		ID:       "throttled-power",
		Title:    "the GPU keeps its power limit by lower clocks",
		Needs:    [][]string{{"clock-low"}, {"says-power"}},
		Excludes: []string{"says-heat", "says-brake"},
		Else:     "nothing: with large kernels this is how the card is meant to work at its limit",
		Decide:   "compare the power limit with the card's default: nvidia-smi -q -d POWER",
		Remedies: []Fix{
			{"raise the power limit to the card's default, if it was lowered", "nvidia-smi -pl", finding.SameNumbers},
		},
		lost: lostToClocks,
	},
	{
		ID:       "power-brake",
		Title:    "the power supply makes the GPU lower its clocks",
		Needs:    [][]string{{"clock-low"}, {"says-brake"}},
		Excludes: []string{"says-heat"},
		Else:     "a chip that is hot where its sensor is not",
		Decide:   "look at the events of the power supplies: ipmitool sel list",
		Remedies: []Fix{
			{"look after the power supplies and cables of the machine: one may have failed, or be too weak", "ipmitool sel list, nvidia-smi -q -d PERFORMANCE", finding.SameNumbers},
		},
		lost: lostToClocks,
	},
	{
		ID:       "clocks-lowered",
		Title:    "the GPU runs at lower clocks than it could, by a setting",
		Needs:    [][]string{{"clock-low"}, {"says-setting"}},
		Excludes: []string{"starved", "flat-power"},
		Else:     "kernels so small that the card sees no reason for higher clocks",
		Decide:   "read the clocks that are set: nvidia-smi -q -d CLOCK",
		Remedies: []Fix{
			{"take back the setting of clocks", "nvidia-smi -rgc, nvidia-smi -rac", finding.SameNumbers},
		},
		lost: lostToClocks,
	},
}

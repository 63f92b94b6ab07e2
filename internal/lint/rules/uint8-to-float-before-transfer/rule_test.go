package uint8tofloatbeforetransfer

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/lint/linttest"
)

func TestRule(t *testing.T) { linttest.Run(t, Rule) }

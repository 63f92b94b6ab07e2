package solve

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"testing"
)

func load(t testing.TB, path string) []*Recording {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<28)
	var list []*Recording
	for in.Scan() {
		r := &Recording{}
		if err := json.Unmarshal(in.Bytes(), r); err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}

func TestDev(t *testing.T) {
	path := os.Getenv("DEV_REC")
	if path == "" {
		t.Skip()
	}
	recs := load(t, path)
	s, err := Solve(recs)
	if err != nil {
		t.Fatal(err)
	}
	n, g := 0, 0
	for _, p := range s.Tape.Parts {
		for _, c := range p.Classes {
			n += len(c.Ops)
			for _, o := range c.Ops {
				if len(o.When) > 0 {
					g++
				}
			}
			fmt.Println(p.Scope, p.Name, p.Stack, p.Down, p.Level, c.Key, len(c.Ops))
			if os.Getenv("DEV_OPS") == p.Scope+"/"+p.Name {
				for _, o := range c.Ops {
					if o.Free {
						fmt.Println("   -", refText(o.Ref), o.When)
					} else {
						fmt.Println("   +", o.Slot, o.Bytes, o.Category, o.Label, o.When, o.Error)
					}
				}
			}
		}
	}
	fmt.Println(n, "ops", g, "guarded", len(s.Doubts), "doubts")
	for _, d := range s.Doubts {
		fmt.Println("DOUBT", d)
	}
	if os.Getenv("DEV_PARAMS") != "" {
		for _, p := range s.Tape.Params {
			fmt.Println(p.Name, p.Stack, p.Class, p.Shape, p.Home, p.Grad)
		}
	}
}

func TestDevCheck(t *testing.T) {
	path := os.Getenv("DEV_CHECK")
	if path == "" {
		t.Skip()
	}
	s, err := Solve(load(t, os.Getenv("DEV_REC")))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range s.Doubts {
		fmt.Println("DOUBT", d)
	}
	for _, r := range load(t, path) {
		if r.Error != "" {
			fmt.Println("ERR", r.Error)
			continue
		}
		c, err := Verify(s.Tape, r)
		if err != nil {
			fmt.Println("VERIFY", err)
			continue
		}
		fmt.Println(c.OK(), c.Events, c.Equal, c.Played, c.Peak, c.Want, float64(c.Peak)/float64(c.Want)-1, c.Dims, c.First)
	}
}

package overlay

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSumUp(t *testing.T) {
	log := strings.Join([]string{
		"create\t/out/new", "mkdir\t/out/dir", "create\t/out/tmp", "overwrite\t/ck", "removed\t/out/tmp", "delete\t/old", "create\t/old",
		"delete\t/gone", "create\t/gone", "removed\t/gone", `create` + "\t" + `/a\tb\\c\nd`, "a cut li",
	}, "\n")
	got, err := sumUp(strings.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	want := []Change{
		{Create, "/out/new", false}, {Create, "/out/dir", true}, {Overwrite, "/ck", false}, {Overwrite, "/old", false},
		{Delete, "/gone", false}, {Create, "/a\tb\\c\nd", false},
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("-got +want\n%s", diff)
	}
}

func TestConfigValue(t *testing.T) {
	got, err := Config{Root: "/r", Log: "/l", Allow: []string{"/a", "/b"}}.Value()
	if want := "root=/r;log=/l;allow=/a:/b"; err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	for _, c := range []Config{{Root: "r", Log: "/l"}, {Root: "/r;", Log: "/l"}, {Root: "/r", Log: "/l", Allow: []string{"/a:b"}}} {
		if _, err := c.Value(); err == nil {
			t.Errorf("%+v was taken", c)
		}
	}
}

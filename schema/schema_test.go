// Package schema_test holds the schema files to the types that they
// describe. What the commands print is held to them in internal/cli.
package schema_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/capture"
	"github.com/plimsoll-dev/plimsoll/internal/estimate"
)

// object is the part of a schema that a Go struct decides.
type object struct {
	Ref        string            `json:"$ref"`
	Defs       map[string]object `json:"$defs"`
	Type       string            `json:"type"`
	Required   []string          `json:"required"`
	Properties map[string]object `json:"properties"`
	Items      *object           `json:"items"`
}

// documents are the types behind the schema files.
var documents = []struct {
	file  string
	value any
}{
	{"capture.schema.json", capture.Result{}},
	{"estimate.schema.json", estimate.Estimate{}},
}

func TestSchemasAreTheTypes(t *testing.T) {
	for _, d := range documents {
		text, err := os.ReadFile(d.file)
		if err != nil {
			t.Fatal(err)
		}
		var root object
		if err := json.Unmarshal(text, &root); err != nil {
			t.Fatalf("%s: %v", d.file, err)
		}
		compare(t, d.file, &root, root, reflect.TypeOf(d.value))
	}
}

// compare demands of an object that it has the fields of a struct, and of
// every field that it is required unless it may be left out.
func compare(t *testing.T, path string, root *object, o object, typ reflect.Type) {
	t.Helper()
	if name, ok := strings.CutPrefix(o.Ref, "#/$defs/"); ok {
		o = root.Defs[name]
	}
	switch typ.Kind() {
	case reflect.Pointer:
		compare(t, path, root, o, typ.Elem())
	case reflect.Slice:
		if o.Type != "array" || o.Items == nil {
			t.Errorf("%s is a list in Go", path)
			return
		}
		compare(t, path+"[]", root, *o.Items, typ.Elem())
	case reflect.Struct:
		compareFields(t, path, root, o, typ)
	case reflect.Int, reflect.Int64:
		if o.Type != "integer" {
			t.Errorf("%s is %q, an integer in Go", path, o.Type)
		}
	}
}

func compareFields(t *testing.T, path string, root *object, o object, typ reflect.Type) {
	t.Helper()
	seen := map[string]bool{}
	for f := range typ.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		seen[name] = true
		property, ok := o.Properties[name]
		if !ok {
			t.Errorf("%s.%s is not in the schema", path, name)
			continue
		}
		if optional := strings.Contains(options, "omit"); slices.Contains(o.Required, name) == optional {
			t.Errorf("%s.%s: may be left out: %v in Go", path, name, optional)
		}
		compare(t, path+"."+name, root, property, f.Type)
	}
	for name := range o.Properties {
		if !seen[name] {
			t.Errorf("%s.%s is in the schema and in no document", path, name)
		}
	}
}

// keywords are what the checker in internal/cli understands; another one
// would be a promise that no test keeps.
var keywords = []string{
	"$schema", "$id", "$ref", "$defs", "title", "description", "type", "const", "enum", "required", "properties",
	"additionalProperties", "items",
}

func TestSchemasSayOnlyWhatIsChecked(t *testing.T) {
	files, err := filepath.Glob("*.schema.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no schema files: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var root map[string]any
		if err := json.Unmarshal(text, &root); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if want := "plimsoll." + strings.TrimSuffix(file, ".schema.json") + "/1"; root["$id"] != want {
			t.Errorf("%s: $id is %v, want %s", file, root["$id"], want)
		}
		checkKeywords(t, file, root)
	}
}

func checkKeywords(t *testing.T, path string, o map[string]any) {
	t.Helper()
	for k, v := range o {
		if !slices.Contains(keywords, k) {
			t.Errorf("%s: %s is not checked", path, k)
		}
		inner, ok := v.(map[string]any)
		switch {
		case !ok:
		case k == "properties" || k == "$defs":
			for name, p := range inner {
				if p, ok := p.(map[string]any); ok {
					checkKeywords(t, path+"."+name, p)
				}
			}
		default:
			checkKeywords(t, path+"."+k, inner)
		}
	}
}

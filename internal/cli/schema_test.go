package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// schema is the part of JSON Schema that the files under schema/ use.
type schema struct {
	Ref                  string            `json:"$ref"`
	Defs                 map[string]schema `json:"$defs"`
	Type                 json.RawMessage   `json:"type"` // a name or a list of names
	Const                any               `json:"const"`
	Enum                 []any             `json:"enum"`
	Required             []string          `json:"required"`
	Properties           map[string]schema `json:"properties"`
	AdditionalProperties json.RawMessage   `json:"additionalProperties"` // false or a schema
	Items                *schema           `json:"items"`
}

// checkSchema fails the test for everything in document that the schema in the
// named file of schema/ does not allow.
func checkSchema(t *testing.T, file string, document []byte) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "schema", file))
	if err != nil {
		t.Fatal(err)
	}
	var root schema
	if err := json.Unmarshal(text, &root); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	var value any
	if err := json.Unmarshal(document, &value); err != nil {
		t.Fatal(err)
	}
	for _, complaint := range root.check(&root, "$", value) {
		t.Error(complaint)
	}
}

func (s *schema) check(root *schema, path string, value any) []string {
	if name, ok := strings.CutPrefix(s.Ref, "#/$defs/"); ok {
		target, known := root.Defs[name]
		if !known {
			return []string{path + ": the schema has no " + s.Ref}
		}
		return target.check(root, path, value)
	}
	var found []string
	if len(s.Type) > 0 && !s.allows(value) {
		found = append(found, fmt.Sprintf("%s: %v is not %s", path, value, s.Type))
	}
	if s.Const != nil && value != s.Const {
		found = append(found, fmt.Sprintf("%s: %v, want %v", path, value, s.Const))
	}
	if s.Enum != nil && !slices.Contains(s.Enum, value) {
		found = append(found, fmt.Sprintf("%s: %v is none of %v", path, value, s.Enum))
	}
	switch value := value.(type) {
	case map[string]any:
		found = append(found, s.checkObject(root, path, value)...)
	case []any:
		for i, element := range value {
			if s.Items != nil {
				found = append(found, s.Items.check(root, fmt.Sprintf("%s[%d]", path, i), element)...)
			}
		}
	}
	return found
}

func (s *schema) checkObject(root *schema, path string, object map[string]any) []string {
	var found []string
	for _, name := range s.Required {
		if _, there := object[name]; !there {
			found = append(found, path+": "+name+" is missing")
		}
	}
	for name, value := range object {
		property, known := s.Properties[name]
		var other schema
		switch {
		case known:
			found = append(found, property.check(root, path+"."+name, value)...)
		case string(s.AdditionalProperties) == "false":
			found = append(found, path+": "+name+" is not in the schema")
		case json.Unmarshal(s.AdditionalProperties, &other) == nil:
			found = append(found, other.check(root, path+"."+name, value)...)
		}
	}
	return found
}

func (s *schema) allows(value any) bool {
	var names []string
	if json.Unmarshal(s.Type, &names) != nil {
		names = []string{strings.Trim(string(s.Type), `"`)}
	}
	return slices.ContainsFunc(names, func(name string) bool {
		switch value := value.(type) {
		case nil:
			return name == "null"
		case bool:
			return name == "boolean"
		case string:
			return name == "string"
		case float64:
			return name == "number" || name == "integer" && value == float64(int64(value))
		case []any:
			return name == "array"
		default:
			return name == "object"
		}
	})
}

func TestGPUsKeepTheirSchema(t *testing.T) {
	stdio, out, _ := record()
	if exit := Run(t.Context(), []string{"gpus", "--all", "--format", "json"}, stdio); exit != ExitOK {
		t.Fatalf("exit %d", exit)
	}
	checkSchema(t, "gpus.schema.json", out.Bytes())
}

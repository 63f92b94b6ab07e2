package family

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
)

// FromConfig reads a config.json. An error is an *Error, which says the key
// and what to try.
func FromConfig(data []byte, o Options) (*Model, error) {
	c, err := parseConfig(o.file(), data)
	if err != nil {
		return nil, err
	}
	return c.model(o)
}

// model reads the tree.
func (c *config) model(o Options) (*Model, error) {
	m := &Model{Name: o.Name, Source: o.Source, Dims: symbolic.Dims{}, Kinds: map[string][]string{}}
	if err := c.identify(m, o); err != nil {
		return nil, err
	}
	m.Family, m.Library, m.Tasks = c.row.Family, c.row.Library, slices.Clone(c.row.Classes.Keys)
	m.Name = cmp.Or(m.Name, c.text("_name_or_path"), m.Family)
	if a := c.texts("architectures"); len(a) > 0 {
		m.Stored = a[0]
	}
	m.DType = cmp.Or(c.text("dtype"), c.text("torch_dtype"))
	if err := c.chooseTask(m, o.Task); err != nil {
		return nil, err
	}
	if err := c.checkFixed(m, o.Assume != ""); err != nil {
		return nil, err
	}
	if err := c.readDims(m); err != nil {
		return nil, err
	}
	if err := c.readStacks(m); err != nil {
		return nil, err
	}
	if err := c.checkDivides(m); err != nil {
		return nil, err
	}
	delete(c.tree, ownHead)
	if o.OwnHead {
		c.tree[ownHead] = true
	}
	if err := c.chooseStructure(m); err != nil {
		return nil, err
	}
	c.finish(m)
	return m, nil
}

// finish adds warnings about what the config says and an estimate leaves out.
func (c *config) finish(m *Model) {
	if q, ok := c.given("quantization_config"); ok {
		method := "quantized"
		if object, ok := q.(map[string]any); ok {
			if s, ok := object["quant_method"].(string); ok {
				method = "quantized (" + strings.Trim(quoted(s), `"`) + ")"
			}
		}
		m.warn("quantized-checkpoint", "the checkpoint is "+method+"; weights are counted in the type of the run instead")
	}
	if n, ok := c.given("num_nextn_predict_layers"); ok && m.Family == "deepseek_v3" {
		if layers, ok := integer(n); ok && layers > 0 {
			m.warn("no-next-token-layers", "the layers that predict further tokens are not counted: Transformers does not build them")
		}
	}
}

// identify finds the row that reads the config, and goes into the text part
// of a config that wraps several models.
func (c *config) identify(m *Model, o Options) error {
	if o.Assume != "" {
		return c.assume(m, o.Assume)
	}
	name, err := c.modelType(m)
	if err != nil {
		return err
	}
	row, ok := rowOf(name)
	if !ok && wrappers[name] != "" {
		if inner, isObject := c.tree["text_config"].(map[string]any); isObject {
			c.descend(inner)
			row, ok = rowOf(wrappers[name])
			m.warn("text-tower-only", name+" is read as its language model alone: its vision tower is not in the estimate")
		}
	}
	if !ok {
		return c.unknown("model_type", name)
	}
	c.use(row, name)
	return nil
}

// use makes row's defaults those of the config.
func (c *config) use(row *Row, modelType string) {
	c.row, c.own = row, row.DefaultsFor[modelType]
}

// wrappers are the model types that hold a known one in text_config and are
// fine-tuned as language models.
var wrappers = map[string]string{"gemma3": "gemma3_text"}

// descend makes the text part of a multimodal config the config. What the
// outer one says of the heads stays in force, as Transformers loads it.
func (c *config) descend(inner map[string]any) {
	tree := maps.Clone(inner)
	for _, key := range []string{"tie_word_embeddings", "architectures", "dtype", "torch_dtype", "quantization_config", "id2label", "num_labels"} {
		if v, ok := c.tree[key]; ok && v != nil {
			tree[key] = v
		}
	}
	c.tree = tree
}

// assume reads the config as a family that the user names.
func (c *config) assume(m *Model, name string) error {
	row, ok := rowOf(name)
	if !ok {
		row, ok = Lookup(name)
	}
	if !ok {
		return &Error{Msg: "no family is called " + quoted(name), Hint: "known families: " + strings.Join(Families(), ", ")}
	}
	own := c.text("model_type")
	if _, known := rowOf(own); !known {
		if inner, isObject := c.tree["text_config"].(map[string]any); isObject {
			c.descend(inner)
			m.warn("text-tower-only", "only the text_config is read: other towers are not in the estimate")
		}
	}
	c.use(row, name)
	if own != "" && !slices.Contains(row.ModelTypes, own) {
		c.assumed = true
		m.warn("assumed-family", fmt.Sprintf("a config of model type %s is read as %s, as asked; where the two differ the estimate is wrong", quoted(own), row.Family))
	}
	return nil
}

// modelType is what the config says it is, or what its keys suggest.
func (c *config) modelType(m *Model) (string, error) {
	if v, ok := c.given("model_type"); ok {
		s, isText := v.(string)
		if !isText {
			return "", c.wrong("model_type", "is %s, %s: a name is wanted", show(v), typeName(v))
		}
		return s, nil
	}
	if a := c.texts("architectures"); len(a) > 0 {
		for _, name := range Families() {
			row, _ := Lookup(name)
			if strings.HasPrefix(a[0], strings.TrimSuffix(row.Base, "Model")) && hasClass(row, a[0]) {
				m.warn("guessed-family", "model_type is missing; the architecture "+a[0]+" is "+name+"'s")
				return row.ModelTypes[0], nil
			}
		}
		return "", c.unknown("architectures", a[0])
	}
	for _, g := range guesses {
		_, one := c.given(g.keys[0])
		_, two := c.given(g.keys[1])
		if one && two {
			m.warn("guessed-family", fmt.Sprintf("model_type and architectures are missing; the keys %s and %s suggest %s", g.keys[0], g.keys[1], g.family))
			return g.family, nil
		}
	}
	return "", &Error{File: c.file, Key: "model_type", Msg: "is missing, and no other key says what model this is", Hint: "add it, or name a family with --assume: " + strings.Join(Families(), ", ")}
}

func hasClass(row *Row, class string) bool {
	if class == row.Base {
		return true
	}
	for _, c := range row.Classes.Values {
		if c == class {
			return true
		}
	}
	return false
}

// guesses say what a config without a name is, from keys that one family has.
var guesses = []struct {
	keys   [2]string
	family string
}{
	{[2]string{"n_embd", "rotary_dim"}, "gptj"},
	{[2]string{"n_embd", "n_head"}, "gpt2"},
	{[2]string{"d_model", "d_kv"}, "t5"},
}

// unknown is the error for a model that no row reads; key is where its name stands.
func (c *config) unknown(key, name string) error {
	hint := tryCapture
	if near := Nearest(name, Families()); len(near) > 0 {
		hint += "; if it is built like a known family, --assume " + near[0] + " reads it as one"
	} else {
		hint += "; --assume llama reads it as a known family"
	}
	return &Error{File: c.file, Key: key, Msg: "is " + quoted(name) + ", which is not recorded", Hint: hint}
}

// chooseTask finds out what the head is for.
func (c *config) chooseTask(m *Model, asked recipe.Task) error {
	classes := c.row.Classes
	m.Task = classes.Keys[0]
	if asked != "" {
		if _, ok := classes.Values[asked]; !ok {
			return &Error{Msg: fmt.Sprintf("%s has no head for %s", m.Family, asked), Hint: "its tasks: " + listTasks(classes.Keys)}
		}
		m.Task = asked
	} else if a := c.texts("architectures"); len(a) > 0 {
		task, ok := taskOf(a[0], classes)
		if ok {
			m.Task = task
		} else {
			m.warn("other-head", fmt.Sprintf("the head of %s is not recorded; that of %s is taken", strings.Trim(quoted(a[0]), `"`), m.Task))
		}
	}
	m.Class = classes.Values[m.Task]
	return nil
}

// taskOf is the task of a class: the row's own, or by how the name ends.
func taskOf(class string, classes ordered) (recipe.Task, bool) {
	for _, t := range classes.Keys {
		if classes.Values[t] == class {
			return t, true
		}
	}
	for _, h := range heads {
		if _, has := classes.Values[h.task]; has && strings.HasSuffix(class, h.ending) {
			return h.task, true
		}
	}
	return "", false
}

// heads are how the classes of Transformers end, by task.
var heads = []struct {
	ending string
	task   recipe.Task
}{
	{"ForCausalLM", recipe.CausalLM},
	{"LMHeadModel", recipe.CausalLM},
	{"ForMaskedLM", recipe.MaskedLM},
	{"ForSequenceClassification", recipe.SequenceClassification},
	{"ForImageClassification", recipe.ImageClassification},
	{"ForConditionalGeneration", recipe.Seq2SeqLM},
	{"ForConditionalGeneration", recipe.CausalLM}, // a multimodal wrapper of a decoder
}

func listTasks(tasks []recipe.Task) string {
	names := make([]string, len(tasks))
	for i, t := range tasks {
		names[i] = string(t)
	}
	return strings.Join(names, ", ")
}

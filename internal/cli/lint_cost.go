package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/capture"
	"github.com/plimsoll-dev/plimsoll/internal/catalog"
	"github.com/plimsoll-dev/plimsoll/internal/compose"
	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/input"
	"github.com/plimsoll-dev/plimsoll/internal/lint"
	"github.com/plimsoll-dev/plimsoll/internal/lint/workspace"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// mostSetups bounds how many different trainings are estimated in one run: each
// takes some ten milliseconds.
const mostSetups = 64

// lintPrices tells what findings cost in bytes, where the script names a model
// that estimate knows, or an answer about its run is at hand.
type lintPrices struct {
	models modelFinder
	known  map[string]*lintPrice // by setup
	given  *lintPrice            // of --with
	shares *lintShares           // of --with, or nil
}

// A lintPrice is the amounts of one training. An amount that is not known is not
// there.
type lintPrice struct {
	bytes map[lint.Amount]unit.Bytes
	of    func(lint.Amount) string // whose, and what was assumed
}

// inGeneral stands between the cost of a place and the rule's.
const inGeneral = ". In general: "

// amountWords say what is counted of a model. A recording counts at its peak.
var amountWords = map[lint.Amount]string{
	lint.Activations: "what a forward and backward pass holds of activations at its peak",
	lint.Weights:     "the weights",
	lint.Gradients:   "all gradients",
	lint.Logits:      "the logits of one batch",
}

// price gives a finding its bytes and its share of the time, where they are known.
// setup may be nil.
func (p *lintPrices) price(ctx context.Context, f workspace.Finding, setup *lint.Setup) workspace.Finding {
	f = p.bytes(ctx, f, setup)
	if p.shares != nil {
		f = p.shares.price(f)
	}
	return f
}

// bytes gives a finding its bytes.
func (p *lintPrices) bytes(ctx context.Context, f workspace.Finding, setup *lint.Setup) workspace.Finding {
	amount := lint.Amount(f.Of)
	if amount == "" {
		return f
	}
	found := p.given
	if found == nil && setup != nil {
		found = p.estimated(ctx, setup)
	}
	if found == nil || found.bytes[amount] == 0 {
		return f
	}
	f.Bytes = int64(found.bytes[amount])
	f.Cost = fmt.Sprintf("%s here, %s of %s%s%s", found.bytes[amount], amountWords[amount], found.of(amount), inGeneral, f.Cost)
	return f
}

// estimated is the price of what a script trains, nil where nobody knows it.
func (p *lintPrices) estimated(ctx context.Context, s *lint.Setup) *lintPrice {
	raw, err := json.Marshal(s)
	if err != nil {
		return nil
	}
	if found, ok := p.known[string(raw)]; ok || len(p.known) >= mostSetups {
		return found
	}
	found := p.ask(ctx, s)
	if p.known == nil {
		p.known = map[string]*lintPrice{}
	}
	p.known[string(raw)] = found
	return found
}

// ask estimates one training on a card of the table. Nothing is asked on the
// network. Who the model is unknown to says nothing.
func (p *lintPrices) ask(ctx context.Context, s *lint.Setup) *lintPrice {
	r, ok := recipeOf(s)
	if !ok {
		return nil
	}
	source, err := p.models.Find(ctx, catalog.Query{Name: s.Model.Text, Offline: true, Task: r.Task})
	if err != nil {
		return nil
	}
	e, err := largeCard(ctx, source, r)
	if err != nil {
		return nil
	}
	return priceOf(e, func(a lint.Amount) string { return setupWords(s, e, a) })
}

// largeCard estimates on a card that most runs fit; what is asked of the answer
// hardly depends on the card.
func largeCard(ctx context.Context, source estimate.Source, r recipe.Recipe) (*estimate.Estimate, error) {
	choices, err := parseGPUs("h100")
	if err != nil {
		return nil, err
	}
	return estimate.On(ctx, source, r, estimate.TargetOf(choices[0].Card, 1), estimate.Options{Bare: true, Formula: true})
}

// recipeOf is how a script trains, as far as it says; false where it says what
// no estimate is about.
func recipeOf(s *lint.Setup) (recipe.Recipe, bool) {
	r := recipe.Recipe{
		Mode: recipe.Train, Task: recipe.Task(s.Task), Batch: cmp.Or(s.Batch.Number(), 1), Accumulate: 1, Seq: s.Seq.Number(),
		ImageHeight: s.Image.Number(), ImageWidth: s.Image.Number(),
		Precision: recipe.Precision(s.Precision.Text), Checkpoint: s.Checkpoint.Text,
	}
	if slices.Contains(compose.Optimizers(), s.Optimizer.Text) {
		r.Optimizer = s.Optimizer.Text
	}
	if s.Rank.Text != "" {
		r.LoRA = &recipe.LoRA{Rank: s.Rank.Number(), Targets: s.Targets}
		if r.LoRA.Rank < 1 || r.LoRA.Rank > mostRank {
			return r, false
		}
	}
	return r, r.Batch <= mostBatch && r.Seq <= mostSeq && r.ImageHeight <= mostSide
}

// priceOf takes the amounts from an estimate.
func priceOf(e *estimate.Estimate, of func(lint.Amount) string) *lintPrice {
	p := &lintPrice{of: of, bytes: map[lint.Amount]unit.Bytes{
		lint.Activations: e.ByCategory.Activation,
		lint.Weights:     e.ByCategory.Parameter + e.ByCategory.MasterWeight,
		lint.Gradients:   unit.Bytes(e.Model.Trainable * e.Recipe.Precision.WeightBytes()),
	}}
	if e.Recipe.LoRA != nil || e.Recipe.Precision == recipe.Own {
		delete(p.bytes, lint.Gradients) // not all in one type
	}
	if e.Task == recipe.CausalLM || e.Task == recipe.MaskedLM {
		p.bytes[lint.Logits] = logitsOf(e)
	}
	return p
}

// logitsOf is the size of the output of a language model: a number for each
// token and each word of the vocabulary.
func logitsOf(e *estimate.Estimate) unit.Bytes {
	values := map[string]int64{}
	for _, s := range e.Symbols {
		values[s.Name] = s.Value
	}
	each := int64(2)
	if e.Recipe.Precision == recipe.FP32 {
		each = 4
	}
	return unit.Bytes(each * e.Recipe.Batch * e.Recipe.Seq * values["V"])
}

// setupWords say whose amounts these are: what the script says, where, and what
// it leaves open.
func setupWords(s *lint.Setup, e *estimate.Estimate, amount lint.Amount) string {
	var said, assumed []string
	tell := func(at lint.Said, words string) {
		if at.Text == "" {
			assumed = append(assumed, words)
			return
		}
		said = append(said, fmt.Sprintf("%s (%s)", words, at.Where()))
	}
	if amount == lint.Activations || amount == lint.Logits { // which the data decide, too
		tell(s.Batch, fmt.Sprintf("batch %d", e.Recipe.Batch))
		if e.Recipe.Seq > 0 {
			tell(s.Seq, fmt.Sprintf("%d tokens", e.Recipe.Seq))
		}
		if e.Recipe.ImageHeight > 0 {
			tell(s.Image, fmt.Sprintf("%dx%d pixels", e.Recipe.ImageHeight, e.Recipe.ImageWidth))
		}
	}
	tell(s.Precision, string(e.Recipe.Precision))
	if e.Recipe.LoRA != nil {
		tell(s.Rank, fmt.Sprintf("LoRA of rank %d", e.Recipe.LoRA.Rank))
	}
	if s.Checkpoint.Text != "" && amount == lint.Activations {
		tell(s.Checkpoint, "checkpointed")
	}
	words := fmt.Sprintf("%s (%s), as plimsoll estimate has it", s.Model.Text, s.Model.Where())
	if len(said) > 0 {
		words += ": " + strings.Join(said, ", ")
	}
	if len(assumed) > 0 {
		words += "; assumed: " + strings.Join(assumed, ", ")
	}
	return words
}

// mostAnswer bounds the answer that --with reads.
const mostAnswer = 64 << 20

// prices reads what --with names: the tape of a script, which estimate plays, the
// JSON of plimsoll capture or plimsoll estimate; and for shares of the time a
// recording of GPUs, or the JSON of plimsoll run or plimsoll replay.
func (l *linter) prices(ctx context.Context) (*lintPrices, error) {
	p := &lintPrices{models: newCatalog(l.stdio)}
	for _, name := range l.With {
		if err := p.with(ctx, name); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// with takes in one file of a run.
func (p *lintPrices) with(ctx context.Context, name string) error {
	if isSym(name) {
		return p.withTape(ctx, name)
	}
	recording, err := isRecording(name)
	if err != nil {
		return fmt.Errorf("read what --with names: %w", err)
	}
	if recording {
		p.shares, err = recordedShares(ctx, name)
		return err
	}
	raw, err := input.ReadFile(name, mostAnswer)
	if err != nil {
		return fmt.Errorf("read what --with names: %w", err)
	}
	if shares := answeredShares(name, raw); shares != nil {
		p.shares = shares
		return nil
	}
	p.given, err = answeredPrice(name, raw)
	return err
}

// withTape plays the tape of a script.
func (p *lintPrices) withTape(ctx context.Context, name string) error {
	var r recipe.Recipe
	source, err := estimateOptions{Model: name}.source(ctx, p.models, &r, nil)
	if err != nil {
		return err
	}
	e, err := largeCard(ctx, source, r)
	if err != nil {
		return fmt.Errorf("--with %s: %w", name, err)
	}
	p.given = priceOf(e, func(lint.Amount) string { return "the run of " + scriptSubject(e) })
	return nil
}

// answeredPrice takes the amounts from an answer in JSON.
func answeredPrice(name string, raw []byte) (*lintPrice, error) {
	var doc struct {
		Schema     string
		Command    []string
		Model      struct{ Name string }
		ByCategory *estimate.Categories `json:"by_category"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil || doc.ByCategory == nil || doc.Schema != capture.Schema && doc.Schema != estimate.Schema {
		return nil, WithHint(fmt.Errorf("--with %s is no answer about a run", name), "make one with plimsoll capture --format json -o run.json train.py, or plimsoll run --record run.series python train.py")
	}
	c := doc.ByCategory
	of := fmt.Sprintf("the run that %s is of (%s)", name, cmp.Or(strings.Join(doc.Command, " "), doc.Model.Name))
	return &lintPrice{of: func(lint.Amount) string { return of }, bytes: map[lint.Amount]unit.Bytes{
		lint.Activations: c.Activation, lint.Weights: c.Parameter + c.MasterWeight, lint.Gradients: c.Gradient,
	}}, nil
}

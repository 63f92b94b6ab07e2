// Package symbolic holds tapes whose sizes are formulas. A symbolic tape is
// what a training step of a family of models does to memory, whatever the
// model's dimensions: it is solved from a few recordings (package solve) and
// played at given dimensions, which makes a tape.Tape.
//
// A tape consists of parts in the order of time. A part belongs to a scope: the
// loading of the model, the first micro-batch, a later one, one that adds to
// gradients that are there, an evaluation. Parts of a stack of layers are
// played once for each layer; layers of one class are alike.
//
// The package knows no operator and no model: what it plays was recorded.
package symbolic

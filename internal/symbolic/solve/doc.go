// Package solve finds the symbolic tape behind a few recordings of one family
// of models at different dimensions: which events belong together, the formula
// of each size, and the condition under which an event happens at all.
//
// A formula that is exact in every recording is taken for exact; one that is
// not is marked with its largest error. Nothing is fitted by least squares.
package solve

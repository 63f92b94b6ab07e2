// Package pickle reads Python pickles of plain data, protocols 2 to 5,
// without keeping them: containers are handed over as they fill, and what the
// receiver made of them takes their place.
//
// Nothing in a pickle is ever called. Opcodes that make objects of classes or
// call functions are refused by name, with the offset, and so are those that
// no snapshot of PyTorch needs.
//
// Writers memoise nearly every value and read few of them back. Run reads a
// file twice: the first pass finds which, so that the second can let go of the
// rest. RunOnce keeps them all but for the dicts of which its consumer knows
// that they are not read back, which is faster and does for what PyTorch
// writes.
package pickle

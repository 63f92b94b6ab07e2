// Package pickle reads Python pickles of plain data, protocols 2 to 5,
// without keeping them: containers are handed over as they fill, and what the
// receiver made of them takes their place.
//
// Nothing in a pickle is ever called. Opcodes that make objects of classes or
// call functions are refused by name, with the offset, and so are those that
// no snapshot of PyTorch needs.
//
// A file is read twice. Writers memoise nearly every value and read few of
// them back; the first pass finds which, so that the second can let go of the
// rest.
package pickle

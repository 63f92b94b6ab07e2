// Package estimate answers what a known model takes: it plays the model's tape
// under a recipe, lets the allocator replay it, and says whether a card has
// room, what the peak is made of, and what would help.
//
// Nothing is measured and nothing runs. What operators ask for comes from a
// Source, whose tapes were recorded; what the allocator makes of it comes from
// a replay without a limit and, where that is more than the card has, from
// another one within it, since PyTorch gives back what it caches before it
// fails.
//
// It formats nothing for people, reads no files and knows no family by name.
package estimate

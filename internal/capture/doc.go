// Package capture runs a user's own training script on the virtual GPU and
// says what it allocated: the peak, what it was made of, where it came from,
// and whether it fits.
//
// Nothing here imitates PyTorch. The numbers are PyTorch's own allocator's,
// brought back as a memory snapshot by the helper and read into tapes; this
// package starts and stops the script, joins the helper's marks and labels
// to the recording, and draws the conclusions.
//
// It formats nothing for people and reads no flags. It starts processes,
// makes one temporary folder per run, and removes both.
package capture

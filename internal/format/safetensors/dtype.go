package safetensors

// A DType is how a tensor's elements are stored, in the words of the format.
type DType string

// dtypes are the bits of an element, and whether it is a number that can be
// trained. From safetensors/src/tensor.rs, 0.6.
var dtypes = map[DType]struct {
	bits     int64
	floating bool
}{
	"BOOL":        {8, false},
	"F4":          {4, true},
	"F6_E2M3":     {6, true},
	"F6_E3M2":     {6, true},
	"U8":          {8, false},
	"I8":          {8, false},
	"F8_E5M2":     {8, true},
	"F8_E4M3":     {8, true},
	"F8_E8M0":     {8, false}, // scales of blocks, never weights
	"F8_E4M3FNUZ": {8, true},
	"F8_E5M2FNUZ": {8, true},
	"I16":         {16, false},
	"U16":         {16, false},
	"F16":         {16, true},
	"BF16":        {16, true},
	"I32":         {32, false},
	"U32":         {32, false},
	"F32":         {32, true},
	"C64":         {64, true},
	"F64":         {64, true},
	"I64":         {64, false},
	"U64":         {64, false},
}

// Floating reports whether elements of the type can be parameters.
func (d DType) Floating() bool { return dtypes[d].floating }

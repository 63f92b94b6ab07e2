package compose

import "github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"

// Variables of adafactorLoop, named as in PyTorch's code. The value of estimate
// goes on as update's.
const (
	estimate variable = iota
	update
	rowMean
	columnMean
	squared
)

// adafactorLoop is Adafactor's step: matrices keep a mean of each row and of each
// column, all else keeps every number.
var adafactorLoop = []statement{
	{do: pass, size: one, beside: normBuffers}, // norm of the parameter
	{do: let, name: rowMean, size: rowFactor, beside: rowBuffers},
	{do: let, name: columnMean, size: columnFactor, beside: columnBuffers},
	{do: let, name: squared, size: vectorVariance},
	{do: let, name: estimate, size: whole, beside: []size{outerProductWorkspace}},
	{do: pass, size: factorMean, beside: factorMeanBuffers},
	{do: move, name: update},
	{do: pass, size: one, beside: normBuffers}, // norm of the update
}

var (
	rowFactor    = ofMatrix(func(p Param, _ kernel.Device) int64 { return p.batch() * p.rows() * p.Element })
	columnFactor = ofMatrix(func(p Param, _ kernel.Device) int64 { return p.batch() * p.columns() * p.Element })
	factorMean   = ofMatrix(func(p Param, _ kernel.Device) int64 { return p.batch() * p.Element })
)

func vectorVariance(p Param, d kernel.Device) int64 {
	if p.matrix() {
		return 0
	}
	return whole(p, d)
}

// The buffers of the reductions.
var (
	normBuffers       = reduceInner(func(p Param) (outputs, inputs int64) { return 1, p.Elements() })
	rowBuffers        = ofMatrices(reduceInner(func(p Param) (outputs, inputs int64) { return p.batch() * p.rows(), p.columns() }))
	columnBuffers     = ofMatrices(reduceMiddle(func(p Param) (fast, outputs, inputs int64) { return p.columns(), p.batch() * p.columns(), p.rows() }))
	factorMeanBuffers = ofMatrices(reduceInner(func(p Param) (outputs, inputs int64) { return p.batch(), p.rows() }))
)

var cublasWorkspace = ask("cublas_workspace")

// outerProductWorkspace is what cuBLAS is lent to multiply a column by a row;
// batches of matrices are multiplied without.
func outerProductWorkspace(p Param, d kernel.Device) int64 {
	if len(p.Shape) != 2 {
		return 0
	}
	return cublasWorkspace(d)
}

// ofMatrix makes a size that is for matrices only.
func ofMatrix(f size) size {
	return func(p Param, d kernel.Device) int64 {
		if !p.matrix() {
			return 0
		}
		return f(p, d)
	}
}

func ofMatrices(sizes []size) []size {
	for i, f := range sizes {
		sizes[i] = ofMatrix(f)
	}
	return sizes
}

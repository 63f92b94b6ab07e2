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
	{do: pass, size: one, beside: allOf}, // norm of the parameter
	{do: let, name: rowMean, size: rowFactor, beside: rowsOf},
	{do: let, name: columnMean, size: columnFactor, beside: columnsOf},
	{do: let, name: squared, size: vectorVariance},
	{do: let, name: estimate, size: whole, beside: outerProductOf},
	{do: pass, size: factorMean, beside: factorsOf},
	{do: move, name: update},
	{do: pass, size: one, beside: allOf}, // norm of the update
}

var (
	rowFactor    = ofMatrix(func(p Param, _ kernel.Device) int64 { return product(p.batch(), p.rows(), p.Element) })
	columnFactor = ofMatrix(func(p Param, _ kernel.Device) int64 { return product(p.batch(), p.columns(), p.Element) })
	factorMean   = ofMatrix(func(p Param, _ kernel.Device) int64 { return product(p.batch(), p.Element) })
)

func vectorVariance(p Param, d kernel.Device) int64 {
	if p.matrix() {
		return 0
	}
	return whole(p, d)
}

var cublasWorkspace = ask("cublas_workspace")

// outerProductOf is what cuBLAS is lent to multiply a column by a row; batches of
// matrices are multiplied without.
func outerProductOf(p Param, d kernel.Device) loan {
	if len(p.Shape) != 2 {
		return loan{}
	}
	return loan{turns: []turn{{[]int64{cublasWorkspace(d)}, 1}}}
}

// factorsOf is what the mean of the row factors takes.
func factorsOf(p Param, d kernel.Device) loan {
	if !p.matrix() {
		return loan{}
	}
	return rowsOf(Param{Shape: []int64{p.batch(), p.rows()}, Element: p.Element}, d)
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

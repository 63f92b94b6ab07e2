package compose

const (
	twoStates = "bitsandbytes/optim/optimizer.py, Optimizer2State"
	oneState  = "bitsandbytes/optim/optimizer.py, Optimizer1State"
)

// rules are the optimizers, in the order in which they are listed to people.
var rules = []rule{
	{name: "adamw", keeps: moments, over: everyGroup, body: adamLists, source: "torch/optim/adam.py, _multi_tensor_adam"},
	{name: "adamw-fused", keeps: countedMoments, found: true, source: "torch/optim/adam.py, _fused_adam"},
	{name: "adamw-forloop", keeps: moments, over: everyParameter, body: adamLoop, source: "torch/optim/adam.py, _single_tensor_adam"},
	{name: "adam", keeps: moments, over: everyGroup, body: adamLists, source: "torch/optim/adam.py, _multi_tensor_adam"},
	{name: "adam-fused", keeps: countedMoments, found: true, source: "torch/optim/adam.py, _fused_adam"},
	{name: "adam-forloop", keeps: moments, over: everyParameter, body: adamLoop, source: "torch/optim/adam.py, _single_tensor_adam"},
	{name: "sgd", source: "torch/optim/sgd.py, _multi_tensor_sgd"},
	{name: "sgd-fused", found: true, source: "torch/optim/sgd.py, _fused_sgd"},
	{name: "sgd-forloop", source: "torch/optim/sgd.py, _single_tensor_sgd"},
	{name: "sgd-momentum", keeps: []size{whole}, made: withGroup, over: everyGroup, source: "torch/optim/sgd.py, _multi_tensor_sgd"},
	{name: "sgd-momentum-fused", keeps: []size{whole}, found: true, source: "torch/optim/sgd.py, _fused_sgd"},
	{name: "sgd-momentum-forloop", keeps: []size{whole}, source: "torch/optim/sgd.py, _single_tensor_sgd"},
	{name: "rmsprop", keeps: []size{whole}, over: everyGroup, body: rootLists, source: "torch/optim/rmsprop.py, _multi_tensor_rmsprop"},
	{name: "rmsprop-forloop", keeps: []size{whole}, over: everyParameter, body: rootLoop, source: "torch/optim/rmsprop.py, _single_tensor_rmsprop"},
	{name: "adagrad", keeps: []size{whole}, made: atMaking, over: everyGroup, body: adagradLists, source: "torch/optim/adagrad.py, _multi_tensor_adagrad"},
	{name: "adagrad-fused", keeps: []size{counter, whole}, made: atMaking, found: true, source: "torch/optim/adagrad.py, _fused_adagrad"},
	{name: "adagrad-forloop", keeps: []size{whole}, made: atMaking, over: everyParameter, body: rootLoop, source: "torch/optim/adagrad.py, _single_tensor_adagrad"},
	{name: "adafactor", keeps: []size{rowFactor, columnFactor, vectorVariance}, over: everyParameter, body: adafactorLoop, source: "torch/optim/_adafactor.py, _single_tensor_adafactor"},
	{name: "adamw-8bit", shares: []size{meanings, meanings}, keeps: moments8bit, source: twoStates},
	{name: "adam-8bit", shares: []size{meanings, meanings}, keeps: moments8bit, source: twoStates},
	{name: "paged-adamw-8bit", shares: []size{meanings, meanings}, keeps: []size{pagedEightBit, pagedEightBit, scales, scales}, paged: true, source: twoStates},
	{name: "lion", keeps: []size{full}, source: oneState},
	{name: "lion-8bit", shares: []size{meanings}, keeps: []size{eightBit, scales}, source: oneState},
}

// moments are the two running means of Adam. Its number of steps is on the CPU,
// except in the fused form.
var (
	moments        = []size{whole, whole}
	countedMoments = []size{counter, whole, whole}
	moments8bit    = []size{eightBit, eightBit, scales, scales}
)

// The root of the second moment is the one list that Adam and RMSprop make.
var (
	adamLists = []statement{{do: let, size: whole}}
	rootLists = adamLists
	rootLoop  = rootLists
)

// adamLoop divides the root out of place, so that a second tensor is there.
var adamLoop = []statement{
	{do: let, name: 0, size: whole},
	{do: let, name: 1, size: whole},
	{do: drop, name: 0},
}

// adagradLists makes the root and the scaled gradient.
var adagradLists = []statement{
	{do: let, name: 0, size: whole},
	{do: let, name: 1, size: whole},
}

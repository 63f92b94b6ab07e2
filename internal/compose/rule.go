package compose

// A rule is an optimizer as PyTorch writes it: what it keeps of each parameter,
// and the statements of its step that take memory.
type rule struct {
	name   string
	shares []size // made before the state of the first parameter that asks for it
	keeps  []size // state of one parameter, in the order it is made
	made   moment
	over   extent
	body   []statement
	found  bool // the optimizer itself looks at the GradScaler's found_inf
	paged  bool // some state is in managed memory
	source string
}

// moment is when the state of a parameter is made.
type moment uint8

const (
	atStep    moment = iota // before the first step in which it has a gradient
	atMaking                // when the optimizer is made
	withGroup               // as atStep, but when the parameter's group has its turn
)

// extent is what one execution of a statement covers.
type extent uint8

const (
	// everyGroup: lists of all parameters of one type of element, by group. A
	// variable is a list; its old value ends when the next group's is there. Only
	// let is used.
	everyGroup extent = iota
	// everyParameter: one parameter after the other. A variable keeps its value
	// until the next parameter's is there.
	everyParameter
)

// A statement of a step. All variables end with the step.
type statement struct {
	do     verb
	name   variable
	size   size
	beside loans // taken while it runs, after its result
}

type verb uint8

const (
	let  verb = iota // a variable gets a new value, then loses its old one
	drop             // a variable loses its value
	move             // a variable takes over the value of the variable before it
	pass             // a value is used at once and not kept
)

type variable uint8

// variables is how many a rule may have.
const variables = 5

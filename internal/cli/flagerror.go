package cli

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagError is an error of the flag parser in words for people: the parser's own
// quote the functions of Go that refused a value.
func flagError(cmd *cobra.Command, err error) error {
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		err = fmt.Errorf("--%s %q: %s", bad.GetFlag().Name, bad.GetValue(), whyInvalid(bad))
	}
	return WithHint(err, cmd.CommandPath()+" --help lists the flags")
}

// whyInvalid says what is wrong with a value.
func whyInvalid(bad *pflag.InvalidValueError) string {
	number, ok := errors.AsType[*strconv.NumError](bad)
	switch {
	case !ok:
		return bad.Unwrap().Error()
	case errors.Is(number, strconv.ErrRange):
		return "too large a number"
	}
	if word, ok := wanted[bad.GetFlag().Value.Type()]; ok {
		return "not " + word
	}
	return "not a number"
}

// wanted are the words for types of flags.
var wanted = map[string]string{"int": "a whole number", "int64": "a whole number", "bool": "true or false"}

package call

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/internal/value"
)

// HasCallerValues says whether a script of the call may have made its result of a caller's value.
// Nobody can tell which part of it: so all of it counts as the caller's wherever it enters
// a command. Values that may begin with a dash anyway (numbers, those with enum, format or
// allow-dash) make no difference.
func (a *Args) HasCallerValues() bool {
	for _, v := range a.Values {
		if v.Caller && !v.AllowDash && !v.Absent {
			return true
		}
	}
	for l := a.Local; l != nil; l = l.Outer {
		if l.Item.Caller && !l.Item.AllowDash {
			return true
		}
	}
	return false
}

// CheckOption is the first argument of a program, before a --, that begins with a caller's
// value and so with a dash: the program would read what the caller wrote as an option.
// What the script's author wrote is not held against it, as far as it can be told apart.
func (a *Args) CheckOption(list []string) error {
	var texts []string
	for _, v := range a.Values {
		if !v.Caller || v.AllowDash || v.Absent {
			continue
		}
		for _, leaf := range value.Leaves(v.V) {
			if _, number := value.Number(v.V); strings.HasPrefix(leaf, "-") && !number {
				texts = append(texts, leaf)
			}
		}
	}
	for _, arg := range list {
		if arg == "--" {
			return nil
		}
		for _, text := range texts {
			if strings.HasPrefix(arg, text) {
				return fmt.Errorf("cannot pass %q to a program: it is a caller's value that begins with \"-\" and would be read as an option; put '--' before it in args, give the parameter allow-dash or an enum, or run with --allow-dash", arg)
			}
		}
	}
	return nil
}

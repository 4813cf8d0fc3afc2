package expr

import "errors"

// Words splits a command without references into a program and its arguments, as run: is split.
// It fails if there is no program, or if a quote is not closed.
func Words(command string) ([]string, error) {
	t, problems := ParseTemplate(command, Argv, noNames{})
	for _, p := range problems {
		if !p.Warning {
			return nil, errors.New(p.Message)
		}
	}
	argv, err := t.Argv(noNames{})
	if err == nil && (len(argv) == 0 || argv[0] == "") {
		return nil, errors.New("it does not start with the name of a program")
	}
	return argv, err
}

// noNames is a Names and a Scope in which every name is unknown.
type noNames struct{}

func (noNames) Symbol(string) Symbol      { return Symbol{} }
func (noNames) Lookup(Ref) (Value, error) { return Value{}, ErrUnknown }

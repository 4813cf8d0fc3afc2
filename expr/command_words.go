package expr

import "errors"

// Words cuts a command that has no references into a program and its arguments, as run:
// is cut. It is an error when there is no program, or a quote stays open.
func Words(command string) ([]string, error) {
	t, problems := ParseTemplate(command, Argv, noNames{})
	for _, p := range problems {
		if !p.Warning {
			return nil, errors.New(p.Message)
		}
	}
	argv, err := t.Argv(noNames{})
	if err == nil && (len(argv) == 0 || argv[0] == "") {
		return nil, errors.New("it names no program")
	}
	return argv, err
}

// noNames knows no name.
type noNames struct{}

func (noNames) Symbol(string) Symbol      { return Symbol{} }
func (noNames) Lookup(Ref) (Value, error) { return Value{}, ErrUnknown }

package call

// environment holds the variables of a call: those of its env files and secrets, and those that its definition sets.
type environment struct {
	pairs     []string          // K=V: from files, secrets and variables, in this order
	files     []string          // K=V, from env-files
	overrides map[string]string // variables that {env.NAME} finds before those of the process
	unknown   map[string]bool   // variables whose value only a run knows
}

// setOwn sets a variable of the call, which overrides that of the process; setUnknown does the same for a variable whose
// value is not known yet.
func (e *environment) setOwn(name, value string) {
	if e.overrides == nil {
		e.overrides = map[string]string{}
	}
	e.overrides[name] = value
	e.pairs = append(e.pairs, name+"="+value)
}

func (e *environment) setUnknown(name string) {
	if e.unknown == nil {
		e.unknown = map[string]bool{}
	}
	e.unknown[name] = true
}

// lookup returns a variable as {env.NAME} finds it: a secret, a variable of the env files, else a variable of the
// process.
func (e *environment) lookup(name string, process map[string]string) (value string, ok bool) {
	if value, ok = e.overrides[name]; !ok {
		value, ok = process[name]
	}
	return value, ok
}

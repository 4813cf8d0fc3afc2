package steps

import "strings"

// environ is a list of K=V in which every name occurs once. It is immutable, except while set is
// building it.
type environ struct {
	list  []string
	index map[string]int
}

// newEnviron returns an environ of a list. If a name occurs more than once, the last value wins.
func newEnviron(list []string) environ {
	e := environ{index: make(map[string]int, len(list))}
	e.list = e.overlay(e.list, list)
	for i, kv := range e.list {
		e.index[nameOf(kv)] = i
	}
	return e
}

// with returns the environment with more variables. If a name occurs more than once, the last value
// wins.
func (e environ) with(more ...[]string) []string {
	n := len(e.list)
	for _, m := range more {
		n += len(m)
	}
	list := append(make([]string, 0, n), e.list...)
	for _, m := range more {
		list = e.overlay(list, m)
	}
	return list
}

// overlay sets variables in a list that starts with the variables of e. Names that e does not have
// are at the end of the list; they are few, so a linear search is enough.
func (e environ) overlay(list, more []string) []string {
next:
	for _, kv := range more {
		name := nameOf(kv)
		if i, ok := e.index[name]; ok {
			list[i] = kv
			continue
		}
		for i := len(e.index); i < len(list); i++ {
			if nameOf(list[i]) == name {
				list[i] = kv
				continue next
			}
		}
		list = append(list, kv)
	}
	return list
}

// without returns an environ without these variables.
func (e environ) without(names ...string) environ {
	var keep []string
next:
	for _, kv := range e.list {
		for _, n := range names {
			if nameOf(kv) == n {
				continue next
			}
		}
		keep = append(keep, kv)
	}
	return newEnviron(keep)
}

// nameOf returns the name in K=V. On Windows a name may start with '='.
func nameOf(kv string) string {
	if i := strings.IndexByte(kv, '='); i > 0 {
		return kv[:i]
	}
	return kv
}

// set sets a variable in an environ that is being built.
func (e *environ) set(name, value string) {
	if i, ok := e.index[name]; ok {
		e.list[i] = name + "=" + value
		return
	}
	e.index[name] = len(e.list)
	e.list = append(e.list, name+"="+value)
}

// lookup returns the value of a variable in a list of K=V, or "".
func lookup(list []string, name string) string {
	v, _ := find(list, name)
	return v
}

func find(list []string, name string) (string, bool) {
	for i := len(list) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(list[i], name); ok && strings.HasPrefix(v, "=") {
			return v[1:], true
		}
	}
	return "", false
}

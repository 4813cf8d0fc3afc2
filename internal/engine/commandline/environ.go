// Package commandline says how commands are started: in which environment ([Environ]), from which file ([Programs] searches
// along PATH), and, for a script, with which arguments and variables ([Interpreter] gives a [Launch] for each shell). It starts
// nothing itself.
package commandline

import "strings"

// Environ is a list of K=V in which every name occurs once. It is immutable, except while set is
// building it.
type Environ struct {
	List  []string
	index map[string]int
}

// NewEnviron returns an environ of a list. If a name occurs more than once, the last value wins.
func NewEnviron(list []string) Environ {
	e := Environ{index: make(map[string]int, len(list))}
	e.List = e.overlay(e.List, list)
	for i, kv := range e.List {
		e.index[NameOf(kv)] = i
	}
	return e
}

// With returns the environment with more variables. If a name occurs more than once, the last value
// wins.
func (e Environ) With(more ...[]string) []string {
	n := len(e.List)
	for _, m := range more {
		n += len(m)
	}
	list := append(make([]string, 0, n), e.List...)
	for _, m := range more {
		list = e.overlay(list, m)
	}
	return list
}

// overlay sets variables in a list that starts with the variables of e. Names that e does not have
// are at the end of the list; they are few, so a linear search is enough.
func (e Environ) overlay(list, more []string) []string {
next:
	for _, kv := range more {
		name := NameOf(kv)
		if i, ok := e.index[name]; ok {
			list[i] = kv
			continue
		}
		for i := len(e.index); i < len(list); i++ {
			if NameOf(list[i]) == name {
				list[i] = kv
				continue next
			}
		}
		list = append(list, kv)
	}
	return list
}

// Without returns an environ without these variables.
func (e Environ) Without(names ...string) Environ {
	var keep []string
next:
	for _, kv := range e.List {
		for _, n := range names {
			if NameOf(kv) == n {
				continue next
			}
		}
		keep = append(keep, kv)
	}
	return NewEnviron(keep)
}

// NameOf returns the name in K=V. On Windows a name may start with '='.
func NameOf(kv string) string {
	if i := strings.IndexByte(kv, '='); i > 0 {
		return kv[:i]
	}
	return kv
}

// Set sets a variable in an environ that is being built.
func (e *Environ) Set(name, value string) {
	if i, ok := e.index[name]; ok {
		e.List[i] = name + "=" + value
		return
	}
	e.index[name] = len(e.List)
	e.List = append(e.List, name+"="+value)
}

// Lookup returns the value of a variable.
func (e Environ) Lookup(name string) (value string, has bool) {
	i, has := e.index[name]
	if !has {
		return "", false
	}
	return e.List[i][len(name)+1:], true
}

// Lookup returns the value of a variable in a list of K=V, or "".
func Lookup(list []string, name string) string {
	v, _ := Find(list, name)
	return v
}

func Find(list []string, name string) (string, bool) {
	for i := len(list) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(list[i], name); ok && strings.HasPrefix(v, "=") {
			return v[1:], true
		}
	}
	return "", false
}

package steps

import "strings"

// environ is a list of K=V in which every name stands once. It is
// immutable but for one that is being made.
type environ struct {
	list  []string
	index map[string]int
}

// newEnviron makes one of a list in which the last of a name wins.
func newEnviron(list []string) environ {
	e := environ{index: make(map[string]int, len(list))}
	e.list = e.overlay(e.list, list)
	for i, kv := range e.list {
		e.index[nameOf(kv)] = i
	}
	return e
}

// with is a list of the environment with more on top: the last of a name wins.
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

// overlay puts variables on top of a list that begins with e's. What e does not
// know stands behind it and is few, so it is looked through.
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

// nameOf is the name in K=V. Windows has names that begin with '='.
func nameOf(kv string) string {
	if i := strings.IndexByte(kv, '='); i > 0 {
		return kv[:i]
	}
	return kv
}

// set puts one variable into an environment that is being made.
func (e *environ) set(name, value string) {
	if i, ok := e.index[name]; ok {
		e.list[i] = name + "=" + value
		return
	}
	e.index[name] = len(e.list)
	e.list = append(e.list, name+"="+value)
}

// lookup is a variable's value in a list of K=V, "" where it has none.
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

package dag

// View is what a condition, a Bind or a Runner may look at: the arguments of its
// graph and the results of the nodes it directly waits for.
type View place

// Args are the arguments of the graph the node stands in.
func (v View) Args() Args { return v.f.args }

// Result is the result of a node that this one directly waits for; for
// Settings.Finish, of any node of the graph. Nil when the id is neither.
func (v View) Result(id ID) *Result {
	i, ok := v.f.g.index[id]
	if !ok || v.i >= 0 && !v.waitsFor(id) {
		return nil
	}
	return v.f.nodes[i].res
}

// waitsFor keeps a worker away from results that may still be written: those of
// After were settled before it started.
func (v View) waitsFor(id ID) bool {
	for _, up := range v.f.g.nodes[v.i].After {
		if up == id {
			return true
		}
	}
	return false
}

// Tainted says whether something the node directly waits for went badly.
func (v View) Tainted() bool { return v.f.nodes[v.i].tainted }

// Stopped says whether the graph was cancelled. Only for conditions.
func (v View) Stopped() bool { return v.f.stopped != "" }

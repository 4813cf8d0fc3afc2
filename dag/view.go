package dag

// View is what a condition, a Bind or a Runner can read: the arguments of its graph, and
// the results of the nodes that it directly waits for.
type View struct {
	f               *frame
	i               int32 // index of the node; -1 for the graph itself
	assumeCancelled bool  // answer as if the graph had been cancelled
}

func (at place) view() View { return View{f: at.f, i: at.i} }

// Args returns the arguments of the graph that contains the node.
func (v View) Args() Args { return v.f.walk.args(v) }

// Result returns the result of a node that this one directly waits for. Settings.Finish can
// read any node of the graph. An item of a loop, and a node of a graph with InheritResults,
// can also read what the node around it can read. Result returns nil for any other id.
func (v View) Result(id ID) *Result { return v.f.walk.result(v, id) }

// Path returns the path of the node in the run.
func (v View) Path() ID { return v.f.path(v.i) }

// Tainted reports whether a node that this one directly waits for has failed and that is
// not tolerated, or was skipped because of such a failure.
func (v View) Tainted() bool { return v.f.nodes[v.i].tainted }

// Stopped reports whether the graph was cancelled. It may only be called by conditions.
func (v View) Stopped() bool { return v.assumeCancelled || v.f.stopped != "" }

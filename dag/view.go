package dag

// View is what a condition, a Bind or a Runner may look at: the arguments of its
// graph and the results of the nodes it directly waits for.
type View struct {
	f               *frame
	i               int32 // of the node; -1 is the graph itself
	assumeCancelled bool  // as if the graph had been cancelled
}

func (at place) view() View { return View{f: at.f, i: at.i} }

// Args are the arguments of the graph the node stands in.
func (v View) Args() Args { return v.f.walk.args(v) }

// Result is the result of a node that this one directly waits for; for
// Settings.Finish, of any node of the graph. An item of a loop, and a node of a
// graph that is Within another, sees what the node around it sees as well. Nil when
// the id is none of these.
func (v View) Result(id ID) *Result { return v.f.walk.result(v, id) }

// Path is the node's path in the run.
func (v View) Path() ID { return v.f.path(v.i) }

// Tainted says whether something the node directly waits for went badly.
func (v View) Tainted() bool { return v.f.nodes[v.i].tainted }

// Stopped says whether the graph was cancelled. Only for conditions.
func (v View) Stopped() bool { return v.assumeCancelled || v.f.stopped != "" }

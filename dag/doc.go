// Package dag runs a graph of steps in order. It knows nothing of processes, files or YAML,
// and it does not log. It decides what may run, hands that to Runners, and reports what
// happened as a stream of events.
//
// # The model
//
// A Graph is a list of nodes in plan order, with edges. A node holds a Runner (a leaf: it
// does work), a Graph (a nested tool: its nodes get ids like setup/clone), an Each (a
// loop), or none of these (a join). A join settles as soon as everything it waits for has
// settled. With a join, "wait for everything before" costs two edges for a step instead of
// n.
//
// State is a fold over events. Run repeats one turn:
//
//	decide   State.Next, which only reads, and State.Apply, one after the other, until
//	         there is nothing to decide: which nodes start, are skipped, time out, end
//	record   Journal.Append, then every Sink
//	act      hand started nodes to workers; cancel contexts
//
// Between turns it sleeps until a worker reports, a timer is due, a slot is free or the
// caller cancels.
//
// What decides is a machine without clock, contexts and goroutines (machine.go). Run is one
// driver of it (event_loop.go). Machine lets another program drive, and have the work done in
// other processes: Task.Order describes the work, and Performer does it.
//
// Run acts on a decision only after the decision is recorded. Therefore a State that was
// folded from recorded events can be continued like the one that made them. A few kinds of
// events are applied and not recorded (see State); the next owner of the run makes them
// again.
//
// A graph and a loop are walked by two types, graphWalk and loopWalk, which implement the
// interface walk. One goroutine owns the State; workers only send it their reports. To
// apply an event takes time in the number of dependents of its node. The graph is never
// scanned again, because every node counts the nodes that it still waits for.
//
// # Failure is data
//
// What a step did is a Result: its status, exit code and output. A Go error from a Runner
// means that the engine could not do its job; it stops the run.
//
// Settings.Finish and Each.Gather complete the result of a graph or a loop. They may write
// files, so a worker calls them too; the worker's report ends the node.
//
// A failure affects other nodes through one bit. A node taints its dependents if it failed,
// timed out or was interrupted and that is not tolerated, or if it was skipped because of
// such a node. A tainted node is skipped (upstream-failed) unless its condition looks at
// the outcome itself. For a node that ran, only its own outcome counts. docs/explanation/states.md has
// the whole table.
//
// # Slots
//
// Only leaves hold concurrency slots, and only while they run. A nested graph, or a node
// that waits for its next attempt, holds none. Therefore nested tools cannot block each
// other.
package dag

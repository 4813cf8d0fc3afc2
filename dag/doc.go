// Package dag walks a graph of steps. It knows nothing of processes, files or
// YAML, and it does not log: it decides what may run, hands that to Runners, and
// tells what happened as a stream of events.
//
// # The model
//
// A Graph is nodes in plan order with edges. A node holds a Runner (a leaf: it
// does work), a Graph (a nested tool: its nodes get ids like setup/clone), or
// neither (a join: it settles by itself as soon as all it waits for has, so that
// "wait for everything before" costs two edges and not n).
//
// State is a fold over events. The loop in Run repeats one turn:
//
//	decide   State.Next, which only reads, and State.Apply in turn, until there is
//	         nothing to decide: which nodes start, are skipped, time out, end
//	record   Journal.Append, then every Sink
//	act      hand started nodes to workers; cancel contexts
//
// and then sleeps until a worker reports, a timer is due, a slot is free or the
// caller cancels. No decision is acted upon before it is recorded, and a State folded
// from recorded events can be carried on like the one that made them: what is folded in
// and not recorded (see State), the next owner makes anew. A walk of a graph and a walk
// of a loop are two types behind one interface, walk. One goroutine
// owns the State; workers only report values to it. Applying an event costs the
// out-degree of its node, never a rescan: every node carries a counter of what it
// still waits for.
//
// # Failure is data
//
// What a step did is a Result: its status, exit code and output. A Go error from
// a Runner means the engine could not do its job and stops the run.
//
// Completing the result of a graph or a loop (Settings.Finish, Each.Gather) may write
// files: it is work for a worker too, and its report is what ends the node.
//
// What a failure means for others is one bit. A node that failed (or timed out, or
// was interrupted) untolerated, or was skipped because of one that did, is bad; a
// node that directly waits for a bad one is tainted. A tainted node is skipped
// (upstream-failed) unless its condition looks at the outcome itself. A node that
// ran is judged by its own outcome only. docs/states.md holds the whole table.
//
// # Slots
//
// Only leaves hold concurrency slots, and only while they run: a nested graph or
// a node that waits for its next try holds none, so nested tools cannot lock
// each other out.
package dag

// Package proc starts the processes of a run, waits for them, and ends all of them, including those
// that try to escape.
//
// # The model
//
// A [Group] holds what one owner of a run starts. A process belongs to the step that started it,
// and so do all its descendants, whatever they do afterwards. proc finds them again by four signs:
//
//	descent    a child of a process that belongs to the step
//	group      in its process group, or in a session that one of its processes leads
//	mark       FLOWRUN_OWNER and FLOWRUN_STEP in its environment
//	leaf       in the run's own cgroup (v2), if this user may create one
//
// A process can lose each of these signs: a double fork loses descent, setsid the group, env -i the
// mark. It can even lose all three. Two features of the system catch such processes: no process
// leaves a cgroup by accident, and a subreaper ([BecomeReaper]) becomes the parent of every
// descendant that loses its own. With either of them, nothing escapes the end of the run. With
// neither, a process without any sign is not killed on suspicion; it is reported.
//
// # What it costs
//
// A step that ends by itself costs a fork, an exec and one wait. One goroutine waits for the pidfds
// of all children (exitQueue), so thousands of waiting steps hold no threads. The process table is
// read only to stop something, or at the end of a run when a cheap check (is the leaf populated, is
// there a child, does the process group still exist) shows that something is left.
//
// # Owners
//
// A run may get a new owner: the old one was killed, or was suspended for so long that its lease
// ended. Epochs count the owners, and the mark holds the epoch ([procid.Mark]). So an old owner
// that wakes up late ends what it started itself and nothing of its successor. The successor first
// ends what any owner before it left ([Recover]). A process that an owner forked right before it
// was killed carries no mark until it executes its program; Recover waits for that. The
// [procid.Identity] of an owner shows whether it is alive.
//
// A run whose owner was killed may never be resumed. So its keeper ([Keep]), or the next flowrun
// process with the same state directory ([procid.Domain]), ends what that owner left ([Sweep]). Two signs identify the
// owner, and no step loses them by accident: the name of the leaf, and a birthmark, which is a
// resource limit that processes inherit (internal/os/procid). Only a reaper sets a birthmark, because
// during a fork the limit applies to the whole process.
//
// # Ending
//
// There is one way to end processes: TERM to everything found, a grace period, then KILL again and
// again until no process is found. The first process of a step is not reaped before that is over,
// so that its pid cannot be reused. Every other process is checked by its start time, behind an
// open handle, before it gets a signal.
//
// # Terminals
//
// Every process leads a session of its own. It has a terminal only if one was made for it
// ([Spec].TTY), never the one that flowrun was started from. Processes of root could still type
// into any terminal; [confine.RefuseTyping] prevents that.
//
// # Other systems
//
// On other Unix systems only process groups are ended. On Windows a job holds a process with all its descendants, and
// ends them with this process too.
package proc

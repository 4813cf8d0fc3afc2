// Package proc starts the processes of a run, waits for them and ends them: all
// of them, those that tried to get away included.
//
// # The model
//
// A [Group] is what one owner of a run starts. What a step starts belongs to the
// step, whatever the processes do afterwards, and proc can find it again by four
// signs:
//
//	descent    a child of something that belongs to the step
//	group      in its process group, or in a session one of its processes leads
//	marker     FLOWRUN_OWNER and FLOWRUN_STEP in its environment
//	leaf       in the run's own cgroup (v2), where this user may make one
//
// Each sign can be shed (a double fork loses descent, setsid the group, env -i the
// marker), and no step needs to shed less than all. So two things of the system
// stand behind them: nothing leaves a cgroup by accident, and a process that is a
// subreaper ([BecomeReaper]) inherits whatever loses its parent. With either one
// nothing escapes the end of the run. With neither, what shows no sign is not
// killed on suspicion but reported.
//
// # What it costs
//
// A step that ends by itself pays for a fork, an exec and one wait: waiting is a
// pidfd in Go's own poller, so thousands of waiting steps hold no thread each. The
// process table is only read to stop something, or at the end of a run when a
// cheap question (is the leaf populated, is there a child, is the process group
// still there) says that something is left.
//
// # Owners
//
// A run may be taken over: its owner was killed, or was stopped for so long that
// another took its place. Owners are counted by epochs, and the marker holds the
// epoch ([procid.Mark]). So an owner that wakes up late ends what it started itself and
// nothing of its successor's; and the successor first ends what any owner before
// it left ([Recover]). What an owner forked right before it was killed carries no
// marker until its program begins; Recover waits for that. Whether an owner lives is
// known by its [procid.Identity].
//
// A run whose owner was killed may never be resumed, so the next process of the same
// place ([procid.SetPlace]) ends what the owner left ([Sweep]). Two signs say who the owner was,
// and no step sheds them by accident: the name of the leaf, and a birthmark, which is a
// resource limit that processes inherit (internal/procid). A birthmark is given by
// reapers only, since it is a limit of the whole process for the time of a fork.
//
// # Ending
//
// There is one way to end things: TERM to everything found, a grace period, then
// KILL again and again until a look finds nothing. The first process of a step is
// not reaped before that is over, so that its number cannot be given to another.
// Every other process is verified by its start time behind an open handle before
// a signal is sent to it.
//
// # Terminals
//
// Every process leads a session of its own. It has a terminal only where one was made
// for it ([Spec].TTY), never the one this program was started from; [confine.RefuseTyping]
// keeps root's processes from typing there all the same.
//
// # Other systems
//
// Other systems than Linux get process groups (Unix) or the first process alone
// (Windows).
package proc

// Package proc starts the processes of a run, waits for them and ends them: all
// of them, those that tried to get away included.
//
// # The model
//
// A [Group] is one run. What a step starts belongs to the step, whatever the
// processes do afterwards, and proc can find it again by four marks:
//
//	descent    a child of something that belongs to the step
//	group      in its process group, or in a session one of its processes leads
//	marker     FLOWRUN_RUN and FLOWRUN_STEP in its environment
//	leaf       in the run's own cgroup (v2), where this user may make one
//
// Each mark can be shed (a double fork loses descent, setsid the group, env -i the
// marker), and no step needs to shed less than all. So two things of the system
// stand behind them: nothing leaves a cgroup by accident, and a process that is a
// subreaper ([BecomeReaper]) inherits whatever loses its parent. With either one
// nothing escapes the end of the run. With neither, what carries no mark is not
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
// # Ending
//
// There is one way to end things: TERM to everything found, a grace period, then
// KILL again and again until a look finds nothing. The first process of a step is
// not reaped before that is over, so that its number cannot be given to another.
// Every other process is verified by its start time behind an open handle before
// a signal is sent to it.
//
// Other systems than Linux get process groups (Unix) or the first process alone
// (Windows).
package proc

// Package faulttest breaks things under the flowrun command and looks at what is
// left. It holds tests only.
//
// # Kills
//
// TestEngine runs the command in a folder of its own, kills it with -9 at a random
// moment or at a named point before or after a write of the journal, and resumes the
// run, often enough to kill that too. Each step leaves a trace when it starts and when
// it ends, in a file that nothing else touches. In the end the traces, the record and
// the process table must tell one story: nothing that was reported is missing, nothing
// that was recorded as ended ran again, on-interrupt: fail started once, and nothing
// is left running. Steps with a cache are killed too, also where a result is kept or put
// back, while their files change between lives: in the end all is as without the cache,
// and nothing else lies in the folder. Beside kills there are stopped engines, several at
// once, and disks that are full or cannot be written.
//
// # Services
//
// TestSchedules kills one of two services that fire the same schedules, TestServiceKills a service with scheduled tools
// of all kinds: steps that may run twice or not, questions, locks, state, retries, deadlines, files. Each step appends
// its scheduled time and its run to a file. In the end every time has one run, or a record of why it has none; every run
// that needs a person is on every channel, from flowrun ps to a webhook; and no process is left.
//
// # The power cut
//
// What a program has written but not synced lies in the memory of the kernel. The
// end of the program does not lose it; the end of the machine does. So the test has
// a machine of its own to end: qemu without hardware virtualisation, the kernel of
// a Debian cloud image, an initramfs of busybox and flowrun, and one disk with ext4
// on it. Workers in it run tools without pause. Whatever flowrun promised is printed
// to the serial line: that a run has ended and with which exit code, once flowrun
// run has returned; that a step with on-interrupt: fail has begun, by the step
// itself. Then qemu is killed. What has arrived on the host by then has been
// acknowledged.
//
// A second machine with the same disk is asked what the history says, by commands
// that the host types at its serial line, and every acknowledged fact must be there.
// The interrupted runs are resumed.
//
// Each machine keeps to one of two rules for unsynced data. When it is held back,
// nothing reaches the disk but by a sync, so that all the rest is lost for certain.
// When it is eager, the kernel writes all the time, so that what was not synced is
// there in part and out of order.
//
// A green result would mean nothing if nothing could be lost. So another worker
// appends to a file without a sync and acknowledges each line, and the test fails
// unless lines are missing after the cut.
//
// The disk's own cache is not part of this: what the guest's kernel has handed to
// the disk stays there, asked to flush or not.
package faulttest

// Package supervisor does in a process of its own what a library must not do in
// somebody else's: it inherits orphans, and it outlives the program that started
// it by just as long as it takes to end every process of the run.
//
// # The model
//
// The helper is the same program, executed a second time under the name
// "flowrun-helper"; [Main], called first thing in main, notices the name and takes
// over. It is a subreaper and holds a proc.Group. The program holds a [Client],
// which is a proc.Host like the Group, and the two talk over a socket pair:
//
//	start  (with stdin, stdout, stderr as descriptors)   -> started, later exited
//	stop   (grace)                                       -> stopped
//	close  (grace)                                       -> closed
//
// Every message is a length and a JSON document. Descriptors travel beside the
// first byte of the start they belong to, in order.
//
// When the program dies, by kill -9 as well, the socket closes, and that is the
// helper's order to end everything but what detached steps left, and itself. When
// the helper dies, waiting Processes report an error and Close ends what carries
// the same mark, from this process.
package supervisor

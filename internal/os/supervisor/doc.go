// Package supervisor runs a supervisor process, for programs that embed flowrun. It does what a
// library must not do in the process of another program: it becomes the parent of orphans, and when
// that program ends, it lives on until every process of the run has ended.
//
// # The model
//
// The supervisor is the same program, executed again under the name "flowrun-helper". [Main],
// called first in main, notices the name and never returns. The supervisor is a subreaper and has a
// proc.Group. The program has a [Client], which is a proc.Host like the Group. The two communicate
// over a socket pair:
//
//	start  (with stdin, stdout, stderr as descriptors)   -> started, later exited
//	stop   (grace)                                       -> stopped
//	close  (grace)                                       -> closed
//
// Every message is a length and a JSON document. Descriptors are sent with the first byte of the
// start message that they belong to, in order.
//
// When the program ends, even by kill -9, the socket closes. The supervisor then ends everything
// except what detached steps left, and exits. When the supervisor is killed, waiting processes
// report an error, and Close ends, from this process, everything that carries the same mark.
package supervisor

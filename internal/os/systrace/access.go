package systrace

// Access is one use of something that is outside of the process. It happened, unless the kernel refused it for lack of
// rights: a file that is opened exists, a file that is created does not.
type Access struct {
	Kind Kind
	// Target is what is used: an absolute path, in which symbolic links are not resolved; for the network HOST:PORT.
	Target string
}

// Kind is what a process does with something.
type Kind uint8

// Kinds of accesses that a Tracer reports.
const (
	Read       Kind = iota + 1 // reads a file, or lists a folder
	Write                      // writes to a file that exists
	Create                     // creates a file or folder, or gives it this name
	Remove                     // removes a file or folder, or this name of it
	Execute                    // executes a program
	Connect                    // connects to an address by TCP
	Accept                     // accepts TCP connections at an address
	UnixSocket                 // connects to a socket in the file system, or one without a file ("")
)

// Kinds of accesses that others report, who know names.
const (
	Host        Kind = iota + 100 // connects to a host by its name
	PrivateHost                   // the name of that host leads to a private address
)

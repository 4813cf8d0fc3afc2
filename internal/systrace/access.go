package systrace

// Access is one use of something that is outside of the process. It happened, unless the kernel refused it for lack of
// rights: a file that is opened exists, a file that is created does not.
type Access struct {
	Kind Kind
	// Target is what is used: an absolute path, in which symbolic links are not resolved; for Connect HOST:PORT.
	Target string
}

// Kind is what a process does with something.
type Kind uint8

// Kinds of accesses.
const (
	Read       Kind = iota + 1 // reads a file, or lists a folder
	Write                      // writes to a file that exists
	Change                     // creates, removes or renames an entry of the folder
	Execute                    // executes a program
	Connect                    // connects by TCP
	UnixSocket                 // connects to a socket in the file system, or one without a file ("")
)

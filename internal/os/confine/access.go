package confine

// Access is a set of rights to files.
type Access uint8

// Rights to files.
const (
	Read    Access = 1 << iota // read files and list folders
	Write                      // change, create, rename and remove files and folders; not read them
	Execute                    // execute programs, and read them and what they consist of
)

// FileRule grants access to a file, or to a folder and everything in it. The path is absolute and
// contains no symbolic link. A path that does not exist grants nothing.
type FileRule struct {
	Path   string `json:"path"`
	Access Access `json:"access"`
}

// Sandbox limits a process, and everything that it starts, to what it lists. Everything else is
// denied by the kernel: Landlock for files, seccomp for system calls. The zero Sandbox leaves only
// the base of the system (see [BaseFiles]).
type Sandbox struct {
	Files []FileRule `json:"files,omitempty"`
	// Internet and Unix say which sockets it may make: those for IPv4 and IPv6, and those that are
	// files or have abstract names. Pairs of connected sockets are always possible.
	Internet bool `json:"internet,omitempty"`
	Unix     bool `json:"unix,omitempty"`
	// Bubblewrap is the file of the program bwrap, which then limits the files instead of Landlock.
	Bubblewrap string `json:"bubblewrap,omitempty"`
}

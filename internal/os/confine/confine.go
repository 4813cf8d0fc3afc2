package confine

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
)

// Confinement describes what is taken away from a process and everything that it starts. A running
// process cannot be confined from outside without a race. So it gives up its rights itself before it executes
// its program; see the package comment.
type Confinement struct {
	// Reduced removes all capabilities and every way to get one: setuid programs and file
	// capabilities have no effect. Root becomes User, or nobody if User is 0, because root owns the
	// files of the system even without capabilities.
	Reduced bool `json:"reduced,omitempty"`
	User    int  `json:"user,omitempty"` // see RunUser
	// Join lists files (cgroup.procs) through which the process enters cgroups.
	Join []string `json:"join,omitempty"`
	// Sandbox limits the process to the files and sockets that it lists; nil means that it does not.
	Sandbox *Sandbox `json:"sandbox,omitempty"`
	// Limits of each process; 0 means unlimited.
	AddressSpace int64 `json:"address_space,omitempty"` // bytes
	CPUTime      int64 `json:"cpu_time,omitempty"`      // seconds
	FileSize     int64 `json:"file_size,omitempty"`     // bytes of each file that it writes
	OpenFiles    int64 `json:"open_files,omitempty"`
	// NoRealTime keeps processes from a real-time priority, for which no share of the CPU holds.
	NoRealTime bool `json:"no_real_time,omitempty"`
	// Trace is the folder of the systrace.Tracer that observes the process; "" for none.
	Trace string `json:"trace,omitempty"`
}

// Nobody is the group of root's processes with reduced rights, and their user if the run has none
// of its own.
const Nobody = 65534

// The users of runs are in a range that the UIDS-GIDS document of systemd calls unused.
const (
	firstUser = 0x70000000
	userCount = 1 << 27
)

// RunUser returns the user that root becomes for what one run starts with reduced rights. The
// number is a hash of the run id, so two runs do not share it (but for a chance of 1 in 134
// million) and a resumed run owns its files. It is Nobody if the user namespace has no such
// numbers.
func RunUser(run string) int {
	if !hasRunUsers() {
		return Nobody
	}
	h := fnv.New32a()
	h.Write([]byte(run))
	return firstUser + int(h.Sum32()%userCount)
}

// HandOver changes the owner of a file to the user and the group of a run with reduced rights.
func HandOver(path, run string) error { return os.Chown(path, RunUser(run), Nobody) }

// confinedName is argv[0] of a process that must confine itself. The next arguments are the
// Confinement as JSON, the file of the program, and the argv of the program.
const confinedName = "flowrun-confine"

// Wrap returns the file and the argv to start instead, so that the program runs confined: those of this
// program, which gives up the rights and then executes the other one. The pid, the process group and the terminal
// stay the same.
func (c Confinement) Wrap(file string, args []string) (string, []string) {
	spec, err := json.Marshal(c)
	if err != nil {
		panic(err) // plain values always have a JSON form
	}
	return selfFile, append([]string{confinedName, string(spec), file}, args...)
}

// A process that was started by Wrap is confined before the packages are initialized that it does not
// need: they are most of them, and take longer than the rest of its start.
func init() { confineSelf() }

// confineSelf confines this process and executes the program that Wrap was given, if this process was
// started for that. Then it never returns. Otherwise it does nothing. If it fails, it prints why on
// stderr and exits with the code that shells use: 127 if the program does not exist, else 126.
func confineSelf() {
	if len(os.Args) < 4 || os.Args[0] != confinedName {
		return
	}
	var c Confinement
	err := json.Unmarshal([]byte(os.Args[1]), &c)
	if err == nil {
		err = become(c, os.Args[2], os.Args[3:])
	}
	fmt.Fprintf(os.Stderr, "flowrun: cannot start %q: %v\n", os.Args[3], err)
	if os.IsNotExist(err) {
		os.Exit(127)
	}
	os.Exit(126)
}

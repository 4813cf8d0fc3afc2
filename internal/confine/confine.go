package confine

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
)

// Confinement is what a process, and everything it starts, has to do without. A
// process that already exists in another program's hands cannot be confined without
// a race, so the program is started by way of this one: [Confinement.Wrap] names this
// program instead, [Main] in it gives up the rights and then becomes the
// program. The number of the process, its group and its terminal stay the same.
type Confinement struct {
	// Reduced takes every capability away, and every way to get one: setuid programs
	// and file capabilities give nothing any more. Root becomes nobody, because a root
	// without capabilities still owns the system's files, or User where that is set.
	Reduced bool `json:"reduced,omitempty"`
	User    int  `json:"user,omitempty"` // see RunUser
	// Join are files (cgroup.procs) by which the process enters cgroups.
	Join []string `json:"join,omitempty"`
	// AddressSpace bounds the address space of each process, in bytes; 0 does not.
	AddressSpace int64 `json:"address_space,omitempty"`
}

// Nobody is the group that root becomes when its rights are reduced, and the user where
// there is none of the run's own.
const Nobody = 65534

// Users of runs are out of the range that systemd's UIDS-GIDS document calls unused.
const (
	firstUser = 0x70000000
	userCount = 1 << 27
)

// RunUser is the user that root becomes for what one run starts with reduced rights: a
// number that follows from the run's id, so that two runs do not share one (but for a
// chance of 1 in 134 million) and a resumed run owns its files. It is Nobody where a user
// namespace has no such numbers.
func RunUser(run string) int {
	if !hasRunUsers() {
		return Nobody
	}
	h := fnv.New32a()
	h.Write([]byte(run))
	return firstUser + int(h.Sum32()%userCount)
}

// HandOver gives a file to the user and group that reduced rights of a run leave.
func HandOver(path, run string) error { return os.Chown(path, RunUser(run), Nobody) }

// confinedName is argv[0] of a process on its way into its confinement; its Confinement,
// the program's file and the program's argv follow.
const confinedName = "flowrun-confine"

// Wrap is what to start so that the program runs confined. This program must call
// Main.
func (c Confinement) Wrap(file string, args []string) (string, []string) {
	spec, err := json.Marshal(c)
	if err != nil {
		panic(err) // of two kinds of plain values
	}
	return selfFile, append([]string{confinedName, string(spec), file}, args...)
}

// Main becomes the program that Wrap was given, and never returns, if this
// process was started for that; otherwise it returns at once. What cannot be done is
// told on stderr, with a shell's exit code for a program that cannot be started.
func Main() {
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

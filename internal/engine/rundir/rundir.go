// Package rundir says where the files of a run are, and removes those that a run has left.
//
// # The model
//
// A run has up to three kinds of folders:
//
//	STATE/runs/RUN    what is kept with its record: the logs of its steps, their artifacts, and
//	                  the list of its temporary folders. A run without any of these has no folder:
//	                  a short output is in the record (dag.Output.Whole)
//	flowrun-RUN...    temporary folders that its tools work in, each where its tool asks for it
//	flowrun-RUN-private...
//	                  scripts, inputs and large values of running steps, in the temporary
//	                  directory; only this user can read it
//
// The first two belong to the run: whoever removes the run removes them. A private folder belongs
// to the process that made it, and any later process removes what a killed one has left.
package rundir

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/flowrun/flowrun/internal/os/devicename"
)

// LogFolder returns the folder for the log files of a run. stateDir is the state directory. The folder is made with the first of them. The id of a run of a
// Temporal Schedule has characters that are special on Windows.
func LogFolder(stateDir, run string) string {
	return filepath.Join(stateDir, "runs", FileName(run), "logs")
}

// ArtifactFolder returns the folder for the files that are kept of the steps of a run.
func ArtifactFolder(stateDir, run string) string {
	return filepath.Join(stateDir, "runs", FileName(run), "artifacts")
}

// opensDevice reports whether a file with this name would be a device. The name is another one only where that is so.
func opensDevice(name string) bool { return runtime.GOOS == "windows" && devicename.Is(name) }

// FileName returns text, such as the path of a step, as a part of a file name. Every byte that may have a meaning for a file
// system or a terminal is written as %XX, and on Windows the first one of the name of a device. The end of a long text is replaced by a digest.
func FileName(text string) string {
	const safe = "-_.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	const limit = 180 // bytes; file systems allow 255
	var b strings.Builder
	for i := range len(text) {
		if c := text[i]; strings.IndexByte(safe, c) >= 0 && (i > 0 || c != '.' && !opensDevice(text)) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	name := b.String()
	if len(name) > limit {
		name = fmt.Sprintf("%s~%x", name[:limit], sha256.Sum256([]byte(text)))[:limit+17]
	}
	return name
}

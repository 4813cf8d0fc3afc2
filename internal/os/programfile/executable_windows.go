package programfile

import "os/exec"

// Executable returns the file that a path names, with the extension that the path may lack, or why there is none.
func Executable(path string) (string, error) { return exec.LookPath(path) }

package confinement

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/flowrun/flowrun/internal/os/programfile"
)

// Programs that can start containers. podman comes first: if it is installed, it works, while
// docker also needs a service.
var containerPrograms = []string{"podman", "docker"}

// ContainerProgram returns the path of the first program along a PATH that can start containers.
func ContainerProgram(path string) (string, error) {
	if runtime.GOOS == "windows" {
		return "", errors.New("flowrun runs containers on Linux and macOS only")
	}
	for _, name := range containerPrograms {
		if file, err := programfile.Search(name, filepath.SplitList(path)); err == nil {
			return file, nil
		}
	}
	return "", fmt.Errorf("neither %s was found in PATH %q; install one of them", strings.Join(containerPrograms, " nor "), path)
}

// value returns the value of a variable in a list of K=V.
func value(list []string, name string) string {
	for i := len(list) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(list[i], name+"="); ok {
			return v
		}
	}
	return ""
}

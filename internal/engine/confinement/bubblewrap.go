package confinement

import (
	"context"
	"fmt"
	"os/exec"
	"sync"
	"time"

	"github.com/flowrun/flowrun/internal/os/proc"
)

// probeTimeout limits how long bubblewrap may take to show that it works.
const probeTimeout = 5 * time.Second

// bubblewrap returns the file of the program bwrap, which limits the files of enforced steps where
// the kernel has no Landlock, or why it cannot.
var bubblewrap = sync.OnceValues(func() (string, error) {
	file, err := exec.LookPath("bwrap")
	if err != nil {
		return "", fmt.Errorf("bubblewrap is not installed (bwrap is not in PATH)")
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	probe := exec.CommandContext(ctx, file, "--unshare-pid", "--unshare-ipc", "--dev", "/dev", "--proc", "/proc", "--ro-bind", "/usr", "/usr",
		"--ro-bind-try", "/lib", "/lib", "--ro-bind-try", "/lib64", "/lib64", "--", "/usr/bin/true")
	if err := proc.Run(probe, 0); err != nil {
		return "", fmt.Errorf("bubblewrap cannot make namespaces here: %w", err)
	}
	return file, nil
})

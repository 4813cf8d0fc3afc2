//go:build unix

package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// machine describes what was measured, and where, as a Markdown list.
func machine(flowrun string) string {
	var b strings.Builder
	info, _ := os.ReadFile("/proc/cpuinfo") // there is none but on Linux
	cpu := "unknown"
	if m := regexp.MustCompile(`model name\s*: (.*)`).FindSubmatch(info); m != nil {
		cpu = string(m[1])
	}
	fmt.Fprintf(&b, "- %s\n", time.Now().Format("2 January 2006"))
	fmt.Fprintf(&b, "- Processor: %s, %d used; %s\n", cpu, runtime.NumCPU(), firstLine("uname", "-srm"))
	fmt.Fprintf(&b, "- Disk of the workloads: %s\n", fileSystem(os.TempDir()))
	fmt.Fprintf(&b, "- Go: %s\n", strings.TrimPrefix(runtime.Version(), "go"))
	for _, c := range contenders {
		path := flowrun
		if !strings.HasPrefix(c.name, "flowrun") {
			path, _ = exec.LookPath(c.name)
		}
		if args := c.args[version]; args != "" && path != "" {
			fmt.Fprintf(&b, "- %s: %s\n", c.name, firstLine(path, args))
		}
	}
	return b.String()
}

// firstLine returns the first line that a command prints.
func firstLine(name string, args ...string) string {
	out, _ := exec.Command(name, args...).CombinedOutput()
	line, _, _ := bytes.Cut(bytes.TrimSpace(out), []byte("\n"))
	return cmp.Or(string(line), "unknown")
}

// fileSystem returns the type of the file system of a folder.
func fileSystem(dir string) string {
	out, _ := exec.Command("df", "-PT", dir).Output()
	if lines := strings.Split(strings.TrimSpace(string(out)), "\n"); len(lines) == 2 {
		if fields := strings.Fields(lines[1]); len(fields) > 1 {
			return fields[1]
		}
	}
	return "unknown"
}

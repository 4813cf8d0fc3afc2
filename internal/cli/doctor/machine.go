package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine/confinement"
	"github.com/flowrun/flowrun/internal/engine/permission"
	"github.com/flowrun/flowrun/internal/observe/telemetry"
	"github.com/flowrun/flowrun/internal/os/cgroup"
	"github.com/flowrun/flowrun/internal/os/proc"
	"github.com/flowrun/flowrun/internal/os/procid"
)

func checkVersion() []finding {
	return []finding{passed("version", "flowrun %s, %s/%s", ui.ThisBuild().Version, runtime.GOOS, runtime.GOARCH)}
}

// versionTimeout limits how long a program may take to print its version.
const versionTimeout = 10 * time.Second

// checkShells checks whether the programs that run steps are installed.
func checkShells() []finding {
	var list []finding
	for _, s := range []struct {
		name, keys string
		ask        []string // prints the version; nil if the program has no option for it
		needed     bool     // most definitions need it
	}{
		{"bash", "bash, script and commands", []string{"-c", "echo $BASH_VERSION"}, runtime.GOOS != "windows"},
		{"sh", "sh", nil, runtime.GOOS != "windows"},
		{"pwsh", "pwsh", []string{"-NoLogo", "-NoProfile", "-Command", "$PSVersionTable.PSVersion.ToString()"}, false},
		{"python3", "python", []string{"--version"}, false},
	} {
		path, err := exec.LookPath(s.name)
		switch {
		case err == nil:
			list = append(list, passed(s.name, "%s%s", programVersion(path, s.ask), path))
		case s.needed:
			list = append(list, warning(s.name, "install "+s.name+", or add its folder to PATH", "%s is not on PATH: steps with %s cannot run", s.name, s.keys))
		default:
			list = append(list, passed(s.name, "not installed; only steps with %s need it", s.keys))
		}
	}
	return list
}

// programVersion returns the version that a program prints, followed by a comma and a space, or "" if
// it prints none.
func programVersion(path string, versionArgs []string) string {
	if versionArgs == nil {
		return ""
	}
	ctx, stop := context.WithTimeout(context.Background(), versionTimeout)
	defer stop()
	c := exec.CommandContext(ctx, path, versionArgs...)
	c.WaitDelay = time.Second // in case a child process keeps the pipe open
	var out strings.Builder
	c.Stdout = &out
	err := proc.Run(c, 0)
	line, _, _ := strings.Cut(strings.TrimSpace(out.String()), "\n")
	if err != nil || line == "" {
		return ""
	}
	return strings.TrimPrefix(line, "Python ") + ", "
}

// checkClock checks the clock and the time zone data.
func checkClock() []finding {
	now := time.Now()
	list := []finding{passed("clock", "%s", now.Format("2006-01-02 15:04:05 -07:00"))}
	if now.Year() < 2025 {
		list[0] = failed("clock", "set the clock", "the clock is wrong: it shows %s; runs would be listed in the wrong order", now.Format(time.DateOnly))
	}
	zone, _ := now.Zone()
	zones := passed("time zones", "available; the local time zone is %s", zone)
	if _, err := time.LoadLocation("Europe/Berlin"); err != nil {
		zones = warning("time zones", "install the system's time zone data (tzdata)", "the time zone data is missing: %v", err)
	}
	return append(list, zones)
}

// checkTemp checks whether the temporary folder is writable.
func checkTemp() []finding {
	dir := os.TempDir()
	if err := probeWrite(dir); err != nil {
		return []finding{failed("temporary", "set TMPDIR to a folder you can write to", "cannot write to %s: %v", dir, err)}
	}
	return []finding{passed("temporary", "%s", dir)}
}

// probeWrite creates and removes a file in a folder. The error says why that is impossible.
func probeWrite(dir string) error {
	f, err := os.CreateTemp(dir, ".flowrun-doctor-*")
	if err != nil {
		return err
	}
	f.Close()
	return os.Remove(f.Name())
}

// checkSupervision reports whether this machine lets flowrun stop whole process trees and limit
// memory.
func checkSupervision() []finding {
	var list []finding
	if err := procid.CheckTable(); err != nil {
		list = append(list, warning("processes", "without it flowrun ends process groups only, and cannot tell who runs", "%v", err))
	} else if proc.IsReaper() || runtime.GOOS == "windows" { // there jobs hold them
		list = append(list, passed("processes", "flowrun can stop whole process trees, including processes that leave the process group of their step"))
	} else {
		list = append(list, warning("processes", "only Linux and Windows support this; stop programs that become daemons yourself",
			"flowrun can stop process groups only; processes that leave their group may keep running"))
	}
	m, err := cgroup.NewLimit("", 0, cgroup.Limits{Memory: 64 << 20})
	if err != nil {
		return append(list, warning("memory limits", "only tools that set one need it; run flowrun where it can create cgroups, as under systemd-run --user --scope",
			"resources.max-memory cannot be enforced: %v", err))
	}
	m.Remove()
	return append(list, passed("memory limits", "available (cgroups)"))
}

// checkPermissions reports which of the permissions of tools this machine can enforce.
func checkPermissions() (list []finding) {
	for _, kind := range []struct {
		check, means string
		grants       permission.Grants
	}{
		{"permissions", "files, system calls, variables, and the network as a whole", nil},
		{"permissions for hosts", "connections to the hosts that a tool names", permission.Grants{"network:external:example.com"}},
	} {
		c := confinement.Confinement{Enforced: true, Grants: kind.grants}
		if reasons := c.CheckGrants(confinement.Means{Proxy: true}); len(reasons) > 0 {
			list = append(list, warning(kind.check, "tools whose permissions are enforced need it; see flowrun docs isolation", "%v", errors.Join(reasons...)))
			continue
		}
		list = append(list, passed(kind.check, "can be enforced: %s", kind.means))
	}
	return list
}

// checkMechanisms reports each means of this machine to confine steps. A missing one is not a warning: checkPermissions
// and checkSupervision say whether the others are enough.
func checkMechanisms() (list []finding) {
	for _, m := range confinement.Mechanisms() {
		var parts []string
		if m.Detail != "" {
			parts = append(parts, m.Detail)
		}
		if m.Err != nil {
			parts = append(parts, "not available: "+strings.ReplaceAll(m.Err.Error(), "\n", "; "))
		}
		list = append(list, passed(m.Name, "%s", strings.Join(parts, "; ")))
	}
	return list
}

// checkTerminal reports how output will be drawn.
func checkTerminal(env *ui.Env) []finding {
	inColor := func(on bool) string {
		if on {
			return "in colour"
		}
		return "without colour"
	}
	what := "not a terminal"
	if ui.IsTerminal(env.Stdout) {
		what = fmt.Sprintf("a terminal with %d columns", env.StdoutWidth())
	}
	text := fmt.Sprintf("stdout is %s, %s; stderr %s", what, inColor(env.Colored(env.Stdout)), inColor(env.Colored(env.Stderr)))
	switch {
	case os.Getenv("NO_COLOR") != "":
		text += " (NO_COLOR is set)"
	case os.Getenv("TERM") == "dumb":
		text += " (TERM is dumb)"
	}
	drawings := "drawings use UTF-8"
	if ui.ASCIILocale() {
		drawings = "drawings use ASCII, because the locale is not UTF-8"
	}
	return []finding{passed("terminal", "%s", text), passed("locale", "%s", drawings)}
}

// checkTelemetry reports whether traces are sent, and where.
func checkTelemetry() []finding {
	settings, err := telemetry.Read()
	switch {
	case err != nil:
		return []finding{warning("traces", "correct the variables, or set OTEL_SDK_DISABLED=true", "not sent: %v", err)}
	case settings == nil:
		return []finding{passed("traces", "not sent; set OTEL_EXPORTER_OTLP_ENDPOINT to enable them")}
	}
	return []finding{passed("traces", "sent to %s", settings.Endpoint())}
}

package doctor

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/cgroup"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/proc"
	"github.com/flowrun/flowrun/internal/telemetry"
)

func checkVersion(env *ui.Env) []finding {
	return []finding{good("version", "flowrun %s, %s/%s", ui.ThisBuild().Version, runtime.GOOS, runtime.GOARCH)}
}

// versionWait limits how long a program may take to print its version.
const versionWait = 10 * time.Second

// checkShells checks whether the programs that run steps are installed.
func checkShells(env *ui.Env) []finding {
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
			list = append(list, good(s.name, "%s%s", saidVersion(path, s.ask), path))
		case s.needed:
			list = append(list, doubt(s.name, "install "+s.name+", or add its folder to PATH", "%s is not on PATH: steps with %s cannot run", s.name, s.keys))
		default:
			list = append(list, good(s.name, "not installed; only steps with %s need it", s.keys))
		}
	}
	return list
}

// saidVersion returns the version that a program prints, followed by a comma and a space, or "" if
// it prints none.
func saidVersion(path string, ask []string) string {
	if ask == nil {
		return ""
	}
	ctx, stop := context.WithTimeout(context.Background(), versionWait)
	defer stop()
	c := exec.CommandContext(ctx, path, ask...)
	c.WaitDelay = time.Second // in case a child process keeps the pipe open
	var out strings.Builder
	c.Stdout = &out
	err := proc.Run(c)
	line, _, _ := strings.Cut(strings.TrimSpace(out.String()), "\n")
	if err != nil || line == "" {
		return ""
	}
	return strings.TrimPrefix(line, "Python ") + ", "
}

// checkClock checks the clock and the time zone data.
func checkClock(env *ui.Env) []finding {
	now := time.Now()
	list := []finding{good("clock", "%s", now.Format("2006-01-02 15:04:05 -07:00"))}
	if now.Year() < 2025 {
		list[0] = bad("clock", "set the clock", "the clock is wrong: it shows %s; runs would be listed in the wrong order", now.Format(time.DateOnly))
	}
	zone, _ := now.Zone()
	zones := good("time zones", "available; the local time zone is %s", zone)
	if _, err := time.LoadLocation("Europe/Berlin"); err != nil {
		zones = doubt("time zones", "install the system's time zone data (tzdata)", "the time zone data is missing: %v", err)
	}
	return append(list, zones)
}

// checkTemp checks whether the temporary folder is writable.
func checkTemp(env *ui.Env) []finding {
	dir := os.TempDir()
	if err := tryWriting(dir); err != nil {
		return []finding{bad("temporary", "set TMPDIR to a folder you can write to", "cannot write to %s: %v", dir, err)}
	}
	return []finding{good("temporary", "%s", dir)}
}

// tryWriting creates and removes a file in a folder. The error says why that is impossible.
func tryWriting(dir string) error {
	f, err := os.CreateTemp(dir, ".flowrun-doctor-*")
	if err != nil {
		return err
	}
	f.Close()
	return os.Remove(f.Name())
}

// checkSupervision reports whether this machine lets flowrun stop whole process trees and limit
// memory.
func checkSupervision(env *ui.Env) []finding {
	var list []finding
	if proc.IsReaper() {
		list = append(list, good("processes", "flowrun can stop whole process trees, including processes that leave the process group of their step"))
	} else {
		list = append(list, doubt("processes", "only Linux supports this; stop programs that become daemons yourself",
			"flowrun can stop process groups only; processes that leave their group may keep running"))
	}
	m, err := cgroup.NewMemoryLimit("", 64<<20)
	if err != nil {
		return append(list, doubt("memory limits", "only tools that set one need it; run flowrun where it can create cgroups, as under systemd-run --user --scope",
			"resources.max-memory cannot be enforced: %v", err))
	}
	m.Remove()
	return append(list, good("memory limits", "available (cgroups)"))
}

// checkTerminal reports how output will be drawn.
func checkTerminal(env *ui.Env) []finding {
	look := func(on bool) string {
		if on {
			return "in colour"
		}
		return "without colour"
	}
	what := "not a terminal"
	if ui.IsTerminal(env.Stdout) {
		what = fmt.Sprintf("a terminal with %d columns", env.Width())
	}
	text := fmt.Sprintf("stdout is %s, %s; stderr %s", what, look(env.Colored(env.Stdout)), look(env.Colored(env.Stderr)))
	switch {
	case os.Getenv("NO_COLOR") != "":
		text += " (NO_COLOR is set)"
	case os.Getenv("TERM") == "dumb":
		text += " (TERM is dumb)"
	}
	drawings := "drawings use UTF-8"
	if ui.PlainLocale() {
		drawings = "drawings use ASCII, because the locale is not UTF-8"
	}
	return []finding{good("terminal", "%s", text), good("locale", "%s", drawings)}
}

// checkTelemetry reports whether traces are sent, and where.
func checkTelemetry(env *ui.Env) []finding {
	settings, err := telemetry.Read()
	switch {
	case err != nil:
		return []finding{doubt("traces", "correct the variables, or set OTEL_SDK_DISABLED=true", "not sent: %v", err)}
	case settings == nil:
		return []finding{good("traces", "not sent; set OTEL_EXPORTER_OTLP_ENDPOINT to enable them")}
	}
	return []finding{good("traces", "sent to %s", settings.Endpoint())}
}

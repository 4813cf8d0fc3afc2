package cli_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/os/confine"
	"github.com/flowrun/flowrun/internal/test/needtest"
	"github.com/flowrun/flowrun/internal/test/porttest"
	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// TestLearningPages does what the tutorials and guides say, in a new home folder: it writes each file (a fenced
// block with title=NAME), runs each command (a line of a console block that begins with "$ "), and compares what
// is printed with the lines below the command. All commands of a page run in one shell, in its order.
//
// A line "..." stands for any lines, and "..." in a line for any text. Times, ids of runs and the home folder may
// differ. A block with needs=THING is not run, and the page says so in words; the files are always validated.
// UPDATE_PAGES=1 writes what the commands print into the pages.
func TestLearningPages(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the outputs of the pages are those of Linux")
	}
	pages := learningPages(t)
	if len(pages) < 20 {
		t.Errorf("found only %d pages", len(pages))
	}
	for _, file := range pages {
		t.Run(strings.TrimPrefix(filepath.ToSlash(file), "../../docs/"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			page := parsePage(string(text))
			if page.embeds() {
				sizetest.Need(t, sizetest.Gate, "it builds a program with flowrun in it")
			}
			t.Parallel()
			if page.restrictsCalls() {
				if err := confine.CheckSandbox(); err != nil {
					needtest.Missing(t, "the page calls tools with enforced permissions: %v", err)
				}
			}
			for _, program := range []string{"curl", "openssl"} {
				if strings.Contains(string(text), "$ "+program+" ") || strings.Contains(string(text), "$("+program+" ") {
					needtest.Program(t, program)
				}
			}
			home := t.TempDir()
			updating := os.Getenv("UPDATE_PAGES") != ""
			outputs := runPage(t, page, home, updating)
			changed := false
			for _, c := range slices.Backward(page.commands) {
				o := outputs[c.number]
				stdout, stderr, want := comparable(o.stdout, home), comparable(o.stderr, home), comparable(c.output, home)
				switch {
				case mergeable(want, stdout, stderr):
				case updating:
					page.lines = slices.Replace(page.lines, c.end-len(c.output), c.end, shown(o.stdout, home)...)
					changed = true
				default:
					t.Errorf("%s:%d: $ %s\nprinted:\n%s\n--\n%s\nthe page says:\n%s", file, c.line, c.text,
						strings.Join(stdout, "\n"), strings.Join(stderr, "\n"), strings.Join(want, "\n"))
				}
			}
			if changed {
				write(t, file, strings.Join(page.lines, "\n"))
			}
		})
	}
}

func learningPages(t *testing.T) []string {
	t.Helper()
	var pages []string
	for _, pattern := range []string{"../../docs/tutorial/*.md", "../../docs/guides/*.md"} {
		list, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, list...)
	}
	return pages
}

// page is what a reader of a page does, in its order.
type page struct {
	lines    []string
	acts     []any // pageFile or pageCommand
	commands []pageCommand
	problems []string
}

type pageFile struct{ name, text string }

type pageCommand struct {
	number    int
	text      string
	output    []string
	line, end int // the number of its line, and the index of the line after its output
}

var pageFence = regexp.MustCompile("^(````*)(\\w+)((?: \\w+=\\S+)*)$")

func parsePage(text string) (p page) {
	p.lines = strings.Split(text, "\n")
	for i := 0; i < len(p.lines); i++ {
		m := pageFence.FindStringSubmatch(p.lines[i])
		if m == nil {
			if strings.HasPrefix(p.lines[i], "```") {
				p.problems = append(p.problems, fmt.Sprintf("line %d: a block without a language", i+1))
				i = p.closing(i, strings.Repeat("`", 3))
			}
			continue
		}
		begin, end := i+1, p.closing(i, m[1])
		title, needs := attribute(m[3], "title"), attribute(m[3], "needs")
		prose := strings.Join(p.lines[:i], "\n")
		switch {
		case title != "":
			if !strings.Contains(prose, "`"+title+"`") {
				p.problems = append(p.problems, fmt.Sprintf("line %d: the text before the file does not name `%s`", i+1, title))
			}
			p.acts = append(p.acts, pageFile{title, strings.Join(p.lines[begin:end], "\n") + "\n"})
		case needs != "":
			if !strings.Contains(prose, "needs "+strings.ReplaceAll(needs, "-", " ")) {
				p.problems = append(p.problems, fmt.Sprintf("line %d: the text before the block does not say: needs %s", i+1, strings.ReplaceAll(needs, "-", " ")))
			}
		case m[2] == "console":
			p.console(begin, end)
		}
		i = end
	}
	return p
}

// restrictsCalls reports whether a command calls a tool as a model does, which enforces its permissions.
func (p *page) restrictsCalls() bool {
	return slices.ContainsFunc(p.commands, func(c pageCommand) bool { return strings.HasPrefix(c.text, "flowrun call ") })
}

// embeds reports whether the page builds a Go program that embeds flowrun.
func (p *page) embeds() bool {
	return slices.ContainsFunc(p.commands, func(c pageCommand) bool { return strings.HasPrefix(c.text, "go get "+module) })
}

func (p *page) closing(i int, fence string) int {
	for i++; i < len(p.lines) && p.lines[i] != fence; i++ {
	}
	return i
}

func attribute(words, name string) string {
	for _, word := range strings.Fields(words) {
		if value, ok := strings.CutPrefix(word, name+"="); ok {
			return value
		}
	}
	return ""
}

// console adds the commands of a block: lines that begin with "$ ", continued by lines that begin with "> ".
func (p *page) console(begin, end int) {
	for i := begin; i < end; {
		first, ok := strings.CutPrefix(p.lines[i], "$ ")
		if !ok {
			p.problems = append(p.problems, fmt.Sprintf("line %d: output without a command", i+1))
			return
		}
		c := pageCommand{number: len(p.commands), text: first, line: i + 1}
		for i++; i < end && strings.HasPrefix(p.lines[i], "> "); i++ {
			c.text += "\n" + p.lines[i][2:]
		}
		for ; i < end && !strings.HasPrefix(p.lines[i], "$ "); i++ {
			c.output = append(c.output, p.lines[i])
		}
		c.end = i
		p.commands = append(p.commands, c)
		p.acts = append(p.acts, c)
	}
}

// printed is what a command printed.
type printed struct{ stdout, stderr []string }

// runPage writes the files and runs the commands, and returns what each printed. With merge, stderr is part of
// stdout, in the order of writing.
func runPage(t *testing.T, p page, home string, merge bool) []printed {
	t.Helper()
	for _, problem := range p.problems {
		t.Error(problem)
	}
	work := t.TempDir()
	var script strings.Builder
	path, goProgram := os.Getenv("PATH"), false
	if p.embeds() {
		goProgram = true // its definitions may use tools that the program has
		path = goFromCheckout(t, work) + string(os.PathListSeparator) + path
	}
	script.WriteString("cd \"$HOME\"\ntrap 'kill $(jobs -p) 2>/dev/null; wait' EXIT\n")
	for i, act := range p.acts {
		switch act := act.(type) {
		case pageFile:
			file := filepath.Join(work, fmt.Sprint("file", i))
			write(t, file, act.text)
			fmt.Fprintf(&script, "mkdir -p \"$(dirname %[1]q)\" && cp %[2]q %[1]q && chmod 644 %[1]q\n", act.name, file)
			if !goProgram && slices.Contains([]string{".yaml", ".md", ".js", ".ts"}, filepath.Ext(act.name)) && definesTool(act) {
				fmt.Fprintf(&script, "flowrun validate --strict ./%s >%[2]q 2>&1 && rm %[2]q\n", act.name, file+".problems")
			}
		case pageCommand:
			out := filepath.Join(work, fmt.Sprint("out", act.number))
			stderr := strconv.Quote(out + ".err")
			if merge {
				stderr = "&1"
			}
			fmt.Fprintf(&script, "{ %s\n} >%q 2>%s\n", act.text, out, stderr)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", strings.ReplaceAll(script.String(), "127.0.0.1:7878", porttest.Addresses(t, 1)[0]))
	cmd.Dir, cmd.Env, cmd.WaitDelay = home, append(pageEnvironment(home, work), "PATH="+path), 10*time.Second
	if out, err := cmd.CombinedOutput(); ctx.Err() != nil || cmd.ProcessState == nil || len(bytes.TrimSpace(out)) > 0 {
		t.Errorf("the shell printed:\n%s%v", out, err)
	}
	invalid, err := filepath.Glob(filepath.Join(work, "*.problems"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range invalid {
		text, err := os.ReadFile(file)
		t.Errorf("%s%v", text, err)
	}
	outputs := make([]printed, len(p.commands))
	for i := range outputs {
		out := filepath.Join(work, fmt.Sprint("out", i))
		if _, err := os.Stat(out); err != nil {
			t.Fatalf("line %d was not run", p.commands[i].line)
		}
		outputs[i] = printed{stdout: fileLines(t, out), stderr: fileLines(t, out+".err")}
	}
	return outputs
}

func fileLines(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	if len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// definesTool reports whether a file of a page is a definition, not data.
func definesTool(f pageFile) bool {
	return strings.Contains(f.text, "description:") || strings.Contains(f.text, "getMetadata")
}

func pageEnvironment(home, work string) []string {
	return []string{"HOME=" + home, "LANG=C.UTF-8", "TZ=UTC", "TMPDIR=" + work, "USER=ada",
		"FLOWRUN_GLOBAL_TOOLS=" + work + "/none", "FLOWRUN_GLOBAL_CONFIG=" + work + "/none.yaml", "GORACE=atexit_sleep_ms=0"}
}

const module = "github.com/flowrun/flowrun"

// goFromCheckout returns a folder with a command go for which go get takes flowrun from this checkout, not from the
// network.
func goFromCheckout(t *testing.T, work string) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	goMod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	_, requires, _ := strings.Cut(string(goMod), "\nrequire ")
	write(t, filepath.Join(work, "requires"), "\nrequire "+requires+"\nrequire "+module+" v0.0.0\nreplace "+module+" => "+root+"\n")
	env, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE", "GOFLAGS").Output()
	if err != nil {
		t.Fatal(err)
	}
	settings := strings.Split(string(env), "\n")
	bin := filepath.Join(work, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(bin, "go"), fmt.Sprintf(`#!/bin/sh
export GOCACHE=%q GOMODCACHE=%q GOFLAGS=%q GOPROXY=off
if [ "$1 $2" = "get %s@latest" ]; then
  cat %q >> go.mod && cp %q .
else
  exec %q "$@"
fi
`, settings[0], settings[1], settings[2]+" -mod=mod", module, filepath.Join(work, "requires"), filepath.Join(root, "go.sum"), needtest.Program(t, "go")))
	if err := os.Chmod(filepath.Join(bin, "go"), 0o755); err != nil {
		t.Fatal(err)
	}
	return bin
}

var varying = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:\d\d)?`), "TIME"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d`), "DATE"},
	{regexp.MustCompile(`\b\d\d:\d\d:\d\d\b`), "TIME"},
	{regexp.MustCompile(`\b1m[0-9a-hjkmnp-tv-z]{4,11}\b`), "RUN"},
	{regexp.MustCompile(`\+\d+\.\d+s\b`), "+TIME"},
	{regexp.MustCompile(`\b\d+(\.\d+)?(µs|ms|s|m|h|d)\b`), "DURATION"},
	{regexp.MustCompile(`, of which DURATION not running$`), ""}, // not shown if the commands follow each other fast
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "ADDRESS"},
	{regexp.MustCompile(`[ \t─]+`), " "},
}

// comparable returns lines without what differs from run to run.
func comparable(lines []string, home string) []string {
	var list []string
	for _, line := range lines {
		line = strings.ReplaceAll(line, home, "/home/ada")
		for _, v := range varying {
			line = v.pattern.ReplaceAllString(line, v.with)
		}
		list = append(list, strings.TrimSpace(line))
	}
	return list
}

// shown returns lines as a page shows them.
func shown(lines []string, home string) []string {
	var list []string
	for _, line := range lines {
		list = append(list, strings.TrimRight(strings.ReplaceAll(line, home, "/home/ada"), " "))
	}
	return list
}

// mergeable reports whether a page shows the lines of two streams. The lines of each stream are in order, but the
// order between the streams depends on the scheduler.
func mergeable(page, stdout, stderr []string) bool {
	if len(page) == 0 {
		return len(stdout) == 0 && len(stderr) == 0
	}
	if page[0] == "..." && mergeable(page[1:], stdout, stderr) {
		return true
	}
	rest := page[1:]
	if page[0] == "..." {
		rest = page
	}
	return len(stdout) > 0 && matchesLine(page[0], stdout[0]) && mergeable(rest, stdout[1:], stderr) ||
		len(stderr) > 0 && matchesLine(page[0], stderr[0]) && mergeable(rest, stdout, stderr[1:])
}

func matchesLine(pattern, line string) bool {
	if !strings.Contains(pattern, "...") {
		return pattern == line
	}
	return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\.\.\.`, `.*`) + "$").MatchString(line)
}

func TestMergeable(t *testing.T) {
	for _, c := range []struct {
		page, stdout, stderr string
		want                 bool
	}{
		{"a\nb", "a\nb", "", true},
		{"a\nb", "b", "a", true},
		{"a\nb", "a", "b", true},
		{"a\nb\nc", "a\nc", "b", true},
		{"a\nb\nc", "c\na", "b", false},
		{"a", "a\nb", "", false},
		{"a\n...", "a\nb\nc", "d", true},
		{"...\nc", "a\nb\nc", "", true},
		{"a ... c", "a b c", "", true},
		{"a ... c", "a\nc", "", false},
		{"", "", "", true},
		{"", "a", "", false},
		{"a.b", "axb", "", false},
	} {
		lines := func(text string) []string { return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' }) }
		if got := mergeable(lines(c.page), lines(c.stdout), lines(c.stderr)); got != c.want {
			t.Errorf("%q for %q and %q: %v", c.page, c.stdout, c.stderr, got)
		}
	}
}

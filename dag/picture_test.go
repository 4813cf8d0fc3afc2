package dag

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the pictures and tables anew")

// TestPictures draws the status of every step after every turn. A picture is a txtar file:
// the graph in a short form, then the table, which -update writes.
func TestPictures(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.txtar")
	if len(files) == 0 {
		t.Fatal("no pictures")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			head, rest, _ := strings.Cut(string(b), "-- graph --\n")
			script, _, _ := strings.Cut(rest, "-- turns --\n")
			got := head + "-- graph --\n" + script + "-- turns --\n" + picture(t, script)
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(b), got); diff != "" {
				t.Errorf("the picture changed; look at it, then go test -update (-old +new):\n%s", diff)
			}
		})
	}
}

// picture runs the graph with two slots; of all that runs, what began first reports
// first.
func picture(t *testing.T, script string) string {
	steps, settings, cancel := parseScript(t, script)
	d := newDriver(t, graphOf(t, steps, settings), 2, func(int) int { return 0 })
	columns := append([]string{"turn"}, flatten(steps, "")...)
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(columns, "\t"))
	d.turns = func(turn int) {
		if turn == cancel {
			d.cancel()
			d.decide()
		}
		now := states(d.state)
		row := []string{strconv.Itoa(turn)}
		for _, c := range columns[1:] {
			s := now[c]
			if s == "" {
				s = "-"
			}
			row = append(row, s)
		}
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	d.run()
	w.Flush()
	r := d.state.Result()
	fmt.Fprintf(&b, "the run: %s", describe(r.Status, r))
	fmt.Fprintf(&b, ", exit code %d", r.ExitCode)
	if r.Stdout != nil {
		fmt.Fprintf(&b, ", output of %s", r.Stdout.Raw)
	}
	var lines []string
	for line := range strings.Lines(b.String()) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	return strings.Join(lines, "\n") + "\n"
}

func flatten(steps []step, prefix string) (paths []string) {
	for _, s := range steps {
		if !s.join {
			paths = append(paths, prefix+s.id)
			paths = append(paths, flatten(s.inner, prefix+s.id+"/")...)
		}
	}
	return paths
}

// parseScript reads lines like "b: after a; when failure(); tries fail ok; retries 1".
// "outer/x:" is step x of the graph that outer holds; "run:" is about the whole.
func parseScript(t *testing.T, script string) (steps []step, s Settings, cancel int) {
	for line := range strings.Lines(script) {
		path, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		if path == "" {
			continue
		}
		st := &step{}
		for clause := range strings.SplitSeq(rest, ";") {
			key, arg, _ := strings.Cut(strings.TrimSpace(clause), " ")
			n, _ := strconv.Atoi(arg)
			switch key {
			case "":
			case "after":
				st.after = strings.Fields(arg)
			case "when":
				st.when = arg
			case "tries":
				st.tries = strings.Fields(arg)
			case "retries":
				st.retries = n
			case "fallback":
				st.fallback = arg
			case "continue-on-error":
				st.tolerate = true
			case "fail-fast":
				s.FailFast = true
			case "cancel-in-turn":
				cancel = n
			default:
				t.Fatalf("cannot read %q: no clause is called %q", line, key)
			}
		}
		if path != "run" {
			addStep(t, &steps, path, st)
		}
	}
	return steps, s, cancel
}

func addStep(t *testing.T, steps *[]step, path string, st *step) {
	outer, inner, nested := strings.Cut(path, "/")
	if !nested {
		st.id = path
		*steps = append(*steps, *st)
		return
	}
	i := slices.IndexFunc(*steps, func(s step) bool { return s.id == outer })
	if i < 0 {
		t.Fatalf("cannot add %s: no step is called %s", path, outer)
	}
	addStep(t, &(*steps)[i].inner, inner, st)
}

package enginetest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/engine/runresult"
)

// TestSharedFiles checks which cached steps that write into one folder are reused. A line of play is a command of a person,
// or, after "run:", how the steps ended; after "files:", what is in the folder then.
func TestSharedFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, steps, play string }{
		{"two steps", `
- {name: js, sh: 'mkdir -p dist; cp a dist/a.js', cache: {inputs: [a], outputs: [dist/]}}
- {name: css, sh: 'mkdir -p dist; cp b dist/b.css', cache: {inputs: [b], outputs: [dist/]}}`, `
echo a1 > a; echo b1 > b
run: js succeeded, css succeeded
echo a2 > a
run: js succeeded, css reused
files: dist/a.js=a2 dist/b.css=b1
rm -rf dist
run: js reused, css reused
files: dist/a.js=a2 dist/b.css=b1
echo edited > dist/a.js
run: js reused, css reused
files: dist/a.js=a2 dist/b.css=b1
echo a1 > a
run: js reused, css reused
files: dist/a.js=a1 dist/b.css=b1`},
		{"one step after the other writes the same file", `
- {name: make, sh: 'cp a out', cache: {inputs: [a], outputs: [out]}}
- {name: patch, sh: 'cp b out', cache: {inputs: [b], outputs: [out]}}`, `
echo a1 > a; echo b1 > b
run: make succeeded, patch succeeded
run: make reused, patch reused
files: out=b1
echo a2 > a
run: make succeeded, patch reused
files: out=b1`},
		{"items one after the other", `
- {name: list, sh: ls in}
- name: up
  for-each: {items: '{list.output}', as: f, key: '{f}', max-parallel: 1}
  sh: 'mkdir -p out; cp in/{f} out/{f}'
  cache: {inputs: ['in/{f}'], outputs: ['out/**']}`, `
mkdir in; for i in 1 2 3; do echo $i > in/$i; done
run: up[1] succeeded, up[2] succeeded, up[3] succeeded
echo changed > in/1
run: up[1] succeeded, up[2] reused, up[3] reused
files: out/1=changed out/2=2 out/3=3
rm -rf out
run: up[1] reused, up[2] reused, up[3] reused
files: out/1=changed out/2=2 out/3=3`},
		{"an input is renamed", `
- {name: up, sh: 'mkdir -p out; for f in in/*; do cp $f out/; done', cache: {inputs: [in/], outputs: [out/]}}`, `
mkdir in; echo 1 > in/a; echo 2 > in/b
run: up succeeded
mv in/a in/z
run: up succeeded
files: out/a=1 out/b=2 out/z=1
run: up reused
rm -rf out
run: up succeeded
files: out/b=2 out/z=1
rm -rf out
run: up reused
files: out/b=2 out/z=1`},
		{"a step that cleans its folder", `
- {name: up, sh: 'rm -rf out; mkdir out; for f in in/*; do cp $f out/; done', cache: {inputs: [in/], outputs: [out/]}}`, `
mkdir in; echo 1 > in/a
run: up succeeded
mv in/a in/z
run: up succeeded
files: out/z=1
mv in/z in/a
run: up succeeded
files: out/a=1
run: up reused`},
		{"a step that cleans a folder of two", `
- {name: js, sh: 'rm -rf dist; mkdir dist; cp a dist/a.js', cache: {inputs: [a], outputs: [dist/]}}
- {name: css, sh: 'mkdir -p dist; cp b dist/b.css', cache: {inputs: [b], outputs: [dist/]}}`, `
echo a1 > a; echo b1 > b
run: js succeeded, css succeeded
echo a2 > a
run: js succeeded, css reused
files: dist/a.js=a2 dist/b.css=b1
run: js reused, css reused
files: dist/a.js=a2 dist/b.css=b1`},
		{"a step that removes what another has made", `
- {name: make, sh: 'mkdir -p out; cp a out/a; cp a out/a.map', cache: {inputs: [a], outputs: [out/]}}
- {name: tidy, sh: 'rm -f out/*.map', cache: {inputs: [b], outputs: [out/]}}`, `
echo a1 > a; echo b1 > b
run: make succeeded, tidy succeeded
run: make reused, tidy reused
files: out/a=a1
rm -r out
run: make reused, tidy reused
files: out/a=a1`},
		{"a step that makes only what is old", `
- name: make
  sh: |
    mkdir -p out; for f in in/*; do cmp -s $f out/${f#in/} || cp $f out/; done
  cache: {inputs: [in/], outputs: [out/]}`, `
mkdir in; echo 1 > in/a; echo 2 > in/b
run: make succeeded
echo 3 > in/b
run: make succeeded
run: make reused
files: out/a=1 out/b=3
rm -rf out
run: make succeeded
files: out/a=1 out/b=3
rm -rf out
run: make reused
files: out/a=1 out/b=3`},
		{"files that were there before the first run", `
- name: make
  sh: |
    mkdir -p out; for f in in/*; do cmp -s $f out/${f#in/} || cp $f out/; done
  cache: {inputs: [in/], outputs: [out/]}`, `
mkdir in out; echo 1 > in/a; echo 1 > out/a
run: make succeeded
run: make reused
rm -rf out
run: make succeeded
files: out/a=1`},
		{"a step without a cache writes beside one", `
- {name: js, sh: 'mkdir -p dist; cp a dist/a.js', cache: {inputs: [a], outputs: [dist/]}}
- {name: stamp, sh: 'mkdir -p dist; cp now dist/version'}`, `
echo a1 > a; echo 1 > now
run: js succeeded
echo 2 > now
run: js reused
files: dist/a.js=a1 dist/version=2
echo a2 > a; echo 3 > now
run: js succeeded
echo 4 > now
run: js reused
files: dist/a.js=a2 dist/version=4`},
		{"a step without a cache writes at the same time", `
- name: js
  sh: 'mkdir -p dist; cp a dist/a.js; until test -f dist/version; do sleep 0.01; done'
  cache: {inputs: [a], outputs: [dist/]}
- {name: stamp, parallel: true, sh: 'mkdir -p dist; cp now dist/version'}`, `
echo a1 > a; echo 1 > now
run: js succeeded
echo 2 > now
run: -
files: dist/a.js=a1 dist/version=2`},
		{"at the same time, a named file and a folder", `
- {name: js, sh: 'mkdir -p dist; cp a dist/a.js; until test -f dist/b.css; do sleep 0.01; done', cache: {inputs: [a], outputs: [dist/]}}
- {name: css, parallel: true, sh: 'mkdir -p dist; cp b dist/b.css', cache: {inputs: [b], outputs: [dist/b.css]}}`, `
echo a1 > a; echo b1 > b
run: js succeeded, css succeeded
echo b2 > b
run: js reused, css succeeded
files: dist/a.js=a1 dist/b.css=b2
rm -rf dist
run: js reused, css reused
files: dist/a.js=a1 dist/b.css=b2`},
		{"at the same time, one folder", `
- {name: js, sh: 'mkdir -p dist; cp a dist/a.js; until test -f dist/b.css; do sleep 0.01; done', cache: {inputs: [a], outputs: [dist/]}}
- {name: css, parallel: true, sh: 'mkdir -p dist; cp b dist/b.css; until test -f dist/a.js; do sleep 0.01; done', cache: {inputs: [b], outputs: [dist/]}}`, `
echo a1 > a; echo b1 > b
run: js succeeded, css succeeded; 2 not-cached
rm -rf dist
run: js succeeded, css succeeded; 2 not-cached
files: dist/a.js=a1 dist/b.css=b1`},
		{"items at the same time, one folder", `
- name: up
  for-each: {items: [a, b], key: '{item}'}
  sh: 'mkdir -p out; echo {item} > out/{item}; for other in a b; do until test -f out/$other; do sleep 0.01; done; done'
  cache: {outputs: ['out/**']}`, `
run: up[a] succeeded, up[b] succeeded; 1 not-cached
files: out/a=a out/b=b`},
		{"a second attempt that makes the rest", `
- name: make
  sh: 'mkdir -p out; test -f out/a || { cp a out/a; exit 1; }; cp b out/b'
  error-handling: {retry: {attempts: 2, delay: 1ms}}
  cache: {inputs: [a, b], outputs: [out/]}`, `
echo a1 > a; echo b1 > b
run: make succeeded
run: make reused
rm -rf out
run: -
files: out/a=a1 out/b=b1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := cacheBed(t)
			for line := range strings.Lines(strings.TrimSpace(c.play)) {
				b.play("steps:"+c.steps+"\n", strings.TrimSpace(line))
			}
		})
	}
}

// play carries out a line of play.
func (b *bed) play(text, line string) {
	b.Helper()
	if want, ok := strings.CutPrefix(line, "run: "); ok {
		b.ends(b.run(context.Background(), text, nil), want)
		return
	}
	if want, ok := strings.CutPrefix(line, "files: "); ok {
		for file := range strings.FieldsSeq(want) {
			name, content, _ := strings.Cut(file, "=")
			if got, err := os.ReadFile(filepath.Join(b.dir, name)); err != nil || strings.TrimSpace(string(got)) != content {
				b.Errorf("%s: %q, want %s; %v", name, got, content, err)
			}
		}
		out, _ := exec.Command("sh", "-c", "cd "+b.dir+" && find out* dist* -type f").Output()
		if got := strings.Count(string(out), "\n"); got != strings.Count(want, "=") {
			b.Errorf("files %q, want %s", out, want)
		}
		return
	}
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = b.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%s: %v: %s", line, err, out)
	}
}

// ends checks how the steps ended, and the notices of the run.
func (b *bed) ends(res *runresult.Result, want string) {
	b.Helper()
	states, notices, _ := strings.Cut(want, "; ")
	for state := range strings.SplitSeq(states, ", ") {
		step, status, _ := strings.Cut(state, " ")
		if step == "-" {
			continue
		}
		if got := res.Step(step).Status.String(); got != status {
			b.Errorf("step %s: %s, want %s; %v", step, got, status, res.Notices)
		}
	}
	told := ""
	if len(res.Notices) > 0 {
		told = fmt.Sprintf("%d %s", len(res.Notices), res.Notices[0].Code)
	}
	if told != notices {
		b.Errorf("notices %q, want %q: %v", told, notices, res.Notices)
	}
}

package tooltest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/engine/steps"
)

const (
	runLimit    = 5 * time.Minute // for a test whose tool has no timeout
	streamLimit = 10_000_000      // bytes of a step's standard error that are read
	tailLines   = 10
)

var errTooLong = errors.New("the test took too long")

func noop(context.Context, *gostep.StepInput) (any, error) { return nil, nil }

// testRun is the run of one case.
type testRun struct {
	*runner
	engine *engine.Engine
	*Outcome
	folder  string // of this test only; removed after it
	env     engine.RunEnv
	given   map[string]any
	fixture *engine.Plan
}

// run runs the test, checks the result, and cleans up.
func (p *testRun) run() {
	began := time.Now()
	defer func() {
		p.Duration = time.Since(began)
		if err := os.RemoveAll(p.folder); err != nil {
			p.warn("cannot remove the test's folder: %v", err)
		}
	}()
	if err := p.prepare(); err != nil {
		p.fail(err)
		return
	}
	if p.runTool() {
		p.cleanUp()
	}
}

func (p *testRun) warn(format string, args ...any) {
	p.Warnings = append(p.Warnings, fmt.Sprintf(format, args...))
}

// fail records why the test could not be run.
func (p *testRun) fail(err error) {
	p.Status = Failed
	p.addMismatch("", err.Error(), nil)
}

// prepare creates the folders, copies the test's files and fills its placeholders.
func (p *testRun) prepare() (err error) {
	p.env = engine.RunEnv{Workspace: filepath.Join(p.folder, "work"), Temp: filepath.Join(p.folder, "temp"), Time: time.Now(), JavaScript: p.JavaScript, Env: p.environ()}
	for _, dir := range []string{p.env.Workspace, p.env.Temp} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("cannot create the test's folder: %w", err)
		}
	}
	if p.InPlace {
		p.env.Workspace, err = os.Getwd()
	} else {
		err = p.copyFiles()
	}
	if err == nil {
		p.given, err = p.values(p.Library, p.env)
	}
	if err == nil {
		p.fixture, err = p.fixtureDefinition(p.Library)
	}
	return err
}

// environ returns the environment of the run: that of the process with the variables of the test.
func (p *testRun) environ() []string {
	set := map[string]string{}
	for _, e := range p.Test.Environment {
		set[e.Key] = e.Value.Text.S
	}
	list := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		_, replaced := set[name]
		return replaced
	})
	for _, name := range slices.Sorted(maps.Keys(set)) {
		list = append(list, name+"="+set[name])
	}
	return list
}

// copyFiles copies the files that the test names from the definition's folder.
func (p *testRun) copyFiles() error {
	for _, f := range p.Test.Files {
		path := filepath.FromSlash(f.S)
		if err := copyTree(filepath.Join(filepath.Dir(p.Test.Pos.File), path), filepath.Join(p.env.Workspace, path)); err != nil {
			return fmt.Errorf("%s: cannot copy %s into the test's folder: %w", f.Pos, f.S, err)
		}
	}
	return nil
}

func copyTree(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.CopyFS(to, os.DirFS(from))
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, info.Mode().Perm())
}

// runTool runs the tool and checks the result. It reports whether the tool was started, so that
// cleanup may be needed.
func (p *testRun) runTool() (began bool) {
	ctx := p.ctx
	if p.Plan.Definition.Timeout == 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, runLimit, errTooLong)
		defer stop()
	}
	res, err := p.engine.Run(ctx, p.Plan, p.given, engine.WithRunEnv(p.env), engine.WithForce(p.Force), engine.WithStream(func(steps.Chunk) {}))
	var unsupported *plan.UnsupportedError
	cut := res == nil || !res.Status.Executed() // it did not end by itself
	switch {
	case errors.As(err, &unsupported):
		p.Status, p.Reason = Skipped, err.Error()
	case p.ctx.Err() != nil && cut:
		p.Status, p.Reason = Stopped, "interrupted"
	case context.Cause(ctx) == errTooLong && cut:
		p.fail(fmt.Errorf("the test did not end within %s; if the tool needs longer, give it a timeout", runLimit))
	case res == nil && err != nil && outcome.Of(err).Exit == outcome.ExitParams: // as in flowrun run
		p.ExitCode, p.Stderr = outcome.ExitParams, err.Error()
		p.compare(&runresult.Result{}, err.Error())
		return false
	case err != nil:
		p.fail(err)
	default:
		p.keepResult(res)
		p.compare(res, res.Message)
	}
	return unsupported == nil
}

// keepResult copies the parts of a result that are checked and shown.
func (p *testRun) keepResult(res *runresult.Result) {
	p.ExitCode, p.Output = res.ExitCode, res.Output
	var all strings.Builder
	for i := range res.Steps {
		s := &res.Steps[i]
		text := stderrOf(s)
		all.WriteString(text)
		if p.FailedStep == "" && (s.Status == dag.Failed || s.Status == dag.TimedOut) {
			p.FailedStep, p.Tail = s.ID, tail(text, tailLines)
		}
	}
	p.Stderr = all.String()
}

// stderrOf returns what a step wrote to standard error.
func stderrOf(s *runresult.StepResult) string {
	f, err := os.Open(s.StderrFile)
	if err != nil {
		return s.Error
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, streamLimit)) // if reading fails, the part that was read is used
	return string(b)
}

func (p *testRun) compare(res *runresult.Result, why string) {
	p.expect(why)
	p.expectSteps(res)
	p.expectOutputs(res)
	if len(p.paths()) > 0 {
		if args, err := p.fixture.Bind(p.env, p.given); err == nil {
			p.expectPaths(args, p.env.Workspace)
		} else {
			p.addMismatch("file-exists", fmt.Sprintf("cannot determine the paths: %v", err), nil)
		}
	}
	p.Status = Passed
	if len(p.Mismatches) > 0 {
		p.Status = Failed
	}
	if p.Status == Failed && !p.InPlace && missingFile().MatchString(p.Stderr) {
		p.warn("the test ran in a new folder: list the files that it needs in files:, or use --in-place to run it in the working directory")
	}
}

// missingFile matches what programs and scripts print about a file that does not exist.
var missingFile = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)no such file or directory|cannot find the (?:file|path)|\bENOENT\b`)
})

// cleanUp runs the test's cleanup commands, each even if others failed. An interrupt does
// not stop them.
func (p *testRun) cleanUp() {
	if len(p.Test.Cleanup) == 0 {
		return
	}
	res, err := p.engine.Run(context.WithoutCancel(p.ctx), p.fixture, p.given, engine.WithRunEnv(p.env), engine.WithForce(p.Force))
	switch {
	case err != nil:
		p.warn("cannot clean up: %v", err)
		return
	case res.Status == dag.TimedOut:
		p.warn("cleanup did not end within %s", cleanupLimit)
	}
	for i := range res.Steps {
		s := &res.Steps[i]
		if s.Status == dag.Failed {
			p.warn("%s failed: %s", s.ID, strings.Join(append([]string{cmp.Or(s.Message, fmt.Sprintf("exit code %d", s.ExitCode))}, tail(s.Error, 1)...), ": "))
		}
	}
}

package tooltest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// expect compares the exit code and the output with what the test expects.
func (o *Outcome) expect(why string) {
	e := o.Test.Expected
	want := 0
	if e.ExitCode != nil {
		want = *e.ExitCode
	}
	if o.ExitCode != want {
		message := fmt.Sprintf("exit code %d, expected %d", o.ExitCode, want)
		if why != "" {
			message += ": " + why
		}
		o.addMismatch("exit-code", message, nil)
	}
	output := value.WithoutLineEnd(o.Output)
	if e.OutputEquals != nil && output != value.WithoutLineEnd(e.OutputEquals.S) {
		o.addMismatch("output-equals", "the output differs", difference(value.WithoutLineEnd(e.OutputEquals.S), output))
	}
	if e.OutputMatches != nil && !regexp.MustCompile(e.OutputMatches.S).MatchString(output) { // the pattern was checked when the definition was read
		o.addMismatch("output-matches", "the output does not match", contrast(e.OutputMatches.S, output))
	}
	o.contains("output-contains", "the output does not contain the expected text", output, e.OutputContains)
	o.contains("stderr-contains", "standard error does not contain the expected text", value.WithoutLineEnd(o.Stderr), e.StderrContains)
	in := func(t tool.Text) bool { return strings.Contains(output, t.S) }
	if any := e.OutputContainsAny; len(any) > 0 && !slices.ContainsFunc(any, in) {
		var texts []string
		for _, t := range any {
			texts = append(texts, t.S)
		}
		o.addMismatch("output-contains-any", "the output contains none of the expected texts", contrast(strings.Join(texts, "\n"), output))
	}
}

func (o *Outcome) contains(key, message, where string, texts []tool.Text) {
	for _, t := range texts {
		if !strings.Contains(where, t.S) {
			o.addMismatch(key, message, contrast(t.S, where))
		}
	}
}

// contrast shows a text and the one that does not contain it, each from its start.
func contrast(part, whole string) []string {
	a, b := lines(part), lines(whole)
	return append(side("- ", a, maxLines/2), side("+ ", b, maxLines-min(len(a), maxLines/2))...)
}

func (o *Outcome) addMismatch(key, message string, diff []string) {
	o.Mismatches = append(o.Mismatches, Mismatch{Key: key, Message: message, Diff: diff})
}

// expectSteps compares the statuses of steps with what the test expects.
func (o *Outcome) expectSteps(res *runresult.Result) {
	for _, e := range o.Test.Expected.Steps {
		s := res.Step(e.Key)
		switch want := e.Value.Text.S; {
		case s == nil:
			o.addMismatch("steps", fmt.Sprintf("the run has no step %s; %s", e.Key, stepHint(e.Key, res)), nil)
		case s.Status.String() != want:
			o.addMismatch("steps", fmt.Sprintf("step %s is %s, expected %s%s", e.Key, s.Status, want, because(s)), nil)
		}
	}
}

// expectOutputs compares the declared outputs with what the test expects.
func (o *Outcome) expectOutputs(res *runresult.Result) {
	for _, e := range o.Test.Expected.Outputs {
		want, got := jsonText(e.Value.Data()), "nothing"
		if v, ok := res.Outputs[e.Key]; ok {
			got = jsonText(v)
		}
		if want != got {
			o.addMismatch("outputs", fmt.Sprintf("output %s is %s, expected %s", e.Key, got, want), nil)
		}
	}
}

// jsonText returns a value as JSON. Equal values have the same text: 1.0 is 1. Whole numbers keep their digits.
func jsonText(v any) string {
	var read any
	text, err := json.Marshal(v)
	if err == nil {
		err = value.DecodeJSON(text, &read)
	}
	if err == nil {
		text, err = json.Marshal(withFloats(read))
	}
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// withFloats replaces, in what it is given, the numbers that are not written as whole ones.
func withFloats(v any) any {
	switch v := v.(type) {
	case json.Number:
		if f, err := v.Float64(); err == nil && strings.ContainsAny(string(v), ".eE") {
			return f
		}
	case []any:
		for i := range v {
			v[i] = withFloats(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = withFloats(v[name])
		}
	}
	return v
}

func stepHint(name string, res *runresult.Result) string {
	var names []string
	for _, s := range res.Steps {
		names = append(names, s.ID)
	}
	if near := diagnostic.Near(name, names); len(near) > 0 {
		return fmt.Sprintf("did you mean %s?", near[0])
	}
	return "its steps are " + strings.Join(names[:min(len(names), 8)], ", ")
}

func because(s *runresult.StepResult) string {
	if s.Reason == "" {
		return ""
	}
	return " (" + s.Reason + ")"
}

// expectPaths checks that the expected files and folders exist. Relative paths are relative
// to the test's folder.
func (o *Outcome) expectPaths(args *engine.Args, folder string) {
	for _, p := range o.paths() {
		path, _ := args.Value(p.param).(string)
		at := path
		if !filepath.IsAbs(at) {
			at = filepath.Join(folder, at)
		}
		info, err := os.Stat(at)
		switch folders := p.key == "directory-exists"; {
		case err != nil:
			o.addMismatch(p.key, fmt.Sprintf("%s does not exist", path), nil)
		case folders && !info.IsDir():
			o.addMismatch(p.key, fmt.Sprintf("%s is not a folder", path), nil)
		case !folders && info.IsDir():
			o.addMismatch(p.key, fmt.Sprintf("%s is a folder, not a file", path), nil)
		}
	}
}

package importer

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/rewrite"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// Render returns the text of a definition.
func Render(t *Tool) ([]byte, error) {
	w := &writer{}
	for _, p := range t.Parameters {
		w.braces.names = append(w.braces.names, p.Name)
	}
	for _, list := range [][]*Step{t.Steps, t.OnSuccess, t.OnFailure, t.Finally} {
		w.addNames(list)
	}
	text, err := rewrite.WriteYAML(w.tool(t))
	if err != nil {
		return nil, fmt.Errorf("cannot write the definition %s: %w", diagnostic.Quote(t.Name), err)
	}
	return append([]byte(comment(t.Notes, "")), w.withNotes(text)...), nil
}

// writer collects the comments of steps while it makes the entries of a definition. A comment travels as a key of its
// own, which is replaced in the text.
type writer struct {
	braces braceWriter
	notes  [][]string
}

func (w *writer) addNames(steps []*Step) {
	for _, s := range steps {
		w.braces.names = append(w.braces.names, s.Name)
		w.addNames(s.Steps)
		w.addNames(s.Finally)
	}
}

func text(s string) tool.Value {
	p := diagnostic.Plain(s)
	return tool.Value{Scalar: s, Text: &p}
}

func number(n int) tool.Value { return tool.Value{Scalar: int64(n)} }

func yes() tool.Value { return tool.Value{Scalar: true} }

func texts(list []string) tool.Value {
	v := tool.Value{List: []tool.Value{}}
	for _, s := range list {
		v.List = append(v.List, text(s))
	}
	return v
}

// entries is a mapping that is being filled.
type entries []tool.Entry

func (e *entries) add(key string, v tool.Value) { *e = append(*e, tool.Entry{Key: key, Value: v}) }

func (e *entries) text(key, s string) {
	if s != "" {
		e.add(key, text(s))
	}
}

func (w *writer) tool(t *Tool) []tool.Entry {
	var e entries
	e.add("name", text(t.Name))
	e.add("description", text(clean(t.Description)))
	if len(t.Schedules) > 0 {
		e.add("schedule", schedules(t.Schedules))
	}
	if len(t.MailTo) > 0 {
		email := tool.Value{Map: []tool.Entry{{Key: "to", Value: texts(t.MailTo)}}}
		e.add("notify", tool.Value{List: []tool.Value{{Map: []tool.Entry{{Key: "email", Value: email}}}}})
	}
	if len(t.Parameters) > 0 {
		e.add("parameters", w.parameters(t.Parameters))
	}
	if len(t.Platforms) > 0 {
		e.add("platforms", texts(t.Platforms))
	}
	e.text("timeout", t.Timeout)
	if t.MaxActiveRuns > 0 {
		e.add("max-active-runs", number(t.MaxActiveRuns))
	}
	e.text("working-directory", w.braces.write(t.Dir, false))
	if len(t.EnvFiles) > 0 {
		list := tool.Value{List: []tool.Value{}}
		for _, f := range t.EnvFiles {
			list.List = append(list.List, tool.Value{Map: []tool.Entry{{Key: "path", Value: text(w.braces.write(f, false))}, {Key: "optional", Value: yes()}}})
		}
		e.add("env-files", list)
	}
	w.environment(&e, t.Environment, t.Secrets)
	e.add("steps", w.steps(t.Steps))
	for _, h := range []struct {
		key  string
		list []*Step
	}{{"on-success", t.OnSuccess}, {"on-failure", t.OnFailure}, {"finally", t.Finally}} {
		if len(h.list) > 0 {
			e.add(h.key, w.within("run", h.list))
		}
	}
	if len(w.braces.text) > 0 {
		e.add("x-allow", texts(w.braces.text))
	}
	return e
}

// schedules runs a tool as cron does unless the file says otherwise: runs may overlap, and missed times are not caught up.
func schedules(list []Schedule) tool.Value {
	v := tool.Value{List: []tool.Value{}}
	for _, s := range list {
		var e entries
		e.add("cron", text(s.Cron))
		e.text("timezone", s.Timezone)
		e.add("overlap", text(cmp.Or(s.Overlap, "allow")))
		e.add("catch-up", text("none"))
		v.List = append(v.List, tool.Value{Map: e})
	}
	return v
}

func (w *writer) parameters(list []Parameter) tool.Value {
	var all entries
	for _, p := range list {
		var e entries
		if p.List {
			e.add("type", text("array"))
		}
		description := clean(p.Description)
		if description == "" {
			description = "The value of " + p.Name
		}
		e.add("description", text(description))
		switch {
		case p.HasDefault && p.List:
			e.add("default", texts(strings.Fields(p.Default)))
		case p.HasDefault:
			e.add("default", text(w.braces.write(p.Default, true)))
		default:
			e.add("required", yes())
		}
		if len(p.Enum) > 0 {
			e.add("validation", tool.Value{Map: []tool.Entry{{Key: "enum", Value: texts(p.Enum)}}})
		}
		all.add(p.Name, tool.Value{Map: e})
	}
	return tool.Value{Map: all}
}

func (w *writer) environment(e *entries, vars []Variable, secrets []string) {
	if len(vars) == 0 && len(secrets) == 0 {
		return
	}
	values := entries{}
	for _, v := range vars {
		values.add(v.Name, text(w.braces.write(v.Value, true)))
	}
	section := entries{}
	if len(values) > 0 {
		section.add("variables", tool.Value{Map: values})
	}
	if len(secrets) > 0 {
		list := tool.Value{List: []tool.Value{}}
		for _, s := range secrets {
			list.List = append(list.List, tool.Value{Map: []tool.Entry{{Key: "name", Value: text(s)}, {Key: "env", Value: text(s)}}})
		}
		section.add("secrets", list)
	}
	e.add("environment", tool.Value{Map: section})
}

func (w *writer) steps(list []*Step) tool.Value {
	v := tool.Value{List: []tool.Value{}}
	for _, s := range list {
		v.List = append(v.List, tool.Value{Map: w.step(s)})
	}
	return v
}

// within writes steps in which a word has a meaning.
func (w *writer) within(word string, list []*Step) tool.Value {
	defer func(outer []string) { w.braces.local = outer }(w.braces.local)
	w.braces.local = append(slices.Clip(w.braces.local), word)
	return w.steps(list)
}

func (w *writer) step(s *Step) []tool.Entry {
	if len(s.Matrix)+len(s.Include) > 0 {
		defer func(outer []string) { w.braces.local = outer }(w.braces.local)
		w.braces.local = append(slices.Clip(w.braces.local), "matrix", "item", "index")
	}
	var e entries
	if len(s.Notes) > 0 {
		e.add(noteKey(len(w.notes)), text(""))
		w.notes = append(w.notes, s.Notes)
	}
	e.add("name", text(s.Name))
	if s.Parallel {
		e.add("parallel", yes())
	}
	if s.WaitFor != nil {
		e.add("wait-for", texts(s.WaitFor))
	}
	e.text("run-condition", w.braces.write(s.When, false))
	w.matrix(&e, s)
	e.text("working-directory", w.braces.write(s.Dir, false))
	w.container(&e, s.Container)
	w.environment(&e, s.Environment, s.Secrets)
	if len(s.Declared) > 0 {
		outputs := entries{}
		for _, name := range s.Declared {
			outputs.add(name, tool.Value{Map: []tool.Entry{{Key: "type", Value: text("string")}, {Key: "required", Value: tool.Value{Scalar: false}}}})
		}
		e.add("outputs", tool.Value{Map: outputs})
	}
	e.text("input", w.braces.write(s.Input, false))
	e.text("timeout", s.Timeout)
	if s.Attempts > 0 {
		e.add("error-handling", tool.Value{Map: []tool.Entry{{Key: "retry", Value: retry(s)}}})
	}
	if s.Tolerate {
		e.add("continue-on-error", yes())
	}
	if s.Interactive {
		e.add("interactive", yes())
	}
	if len(s.Inputs) > 0 {
		cache := entries{}
		cache.add("inputs", texts(s.Inputs))
		if len(s.Outputs) > 0 {
			cache.add("outputs", texts(s.Outputs))
		}
		e.add("cache", tool.Value{Map: cache})
	}
	switch {
	case s.Approve != "":
		e.add("approve", text(w.braces.write(s.Approve, false)))
	case len(s.Steps) > 0:
		e.add("steps", w.steps(s.Steps))
	default:
		e.add(s.Shell, text(w.braces.write(s.Script, false)))
	}
	if len(s.Finally) > 0 {
		e.add("finally", w.within("run", s.Finally))
	}
	return e
}

func (w *writer) container(e *entries, c *Container) {
	if c == nil {
		return
	}
	v := entries{}
	v.add("image", text(c.Image))
	v.add("network", yes())
	services := entries{}
	for _, s := range c.Services {
		services.add(s.Name, tool.Value{Map: w.service(s)})
	}
	if len(services) > 0 {
		v.add("services", tool.Value{Map: services})
	}
	e.add("container", tool.Value{Map: v})
}

func (w *writer) service(s Service) []tool.Entry {
	v := entries{}
	v.add("image", text(s.Image))
	env := entries{}
	for _, x := range s.Env {
		env.add(x.Name, text(w.braces.write(x.Value, true)))
	}
	if len(env) > 0 {
		v.add("env", tool.Value{Map: env})
	}
	health := entries{}
	health.text("command", w.braces.write(s.Health, false))
	health.text("interval", s.Interval)
	health.text("timeout", s.Timeout)
	if s.Retries > 0 {
		health.add("retries", number(s.Retries))
	}
	if len(health) > 0 {
		v.add("health", tool.Value{Map: health})
	}
	return v
}

func retry(s *Step) tool.Value {
	var e entries
	e.add("attempts", number(s.Attempts))
	e.text("delay", s.Delay)
	if s.Doubles {
		e.add("backoff", text("exponential"))
	} else {
		e.add("backoff", text("constant"))
	}
	e.text("max-delay", s.MaxDelay)
	if len(s.ExitCodes) > 0 {
		codes := tool.Value{List: []tool.Value{}}
		for _, c := range s.ExitCodes {
			codes.List = append(codes.List, number(c))
		}
		e.add("exit-codes", codes)
	}
	return tool.Value{Map: e}
}

func (w *writer) matrix(e *entries, s *Step) {
	if len(s.Matrix) == 0 && len(s.Include) == 0 {
		return
	}
	m := entries{}
	for _, a := range s.Matrix {
		m.add(a.Name, texts(a.Values))
	}
	for _, more := range []struct {
		key  string
		list [][]Variable
	}{{"exclude", s.Exclude}, {"include", s.Include}} {
		if len(more.list) == 0 {
			continue
		}
		v := tool.Value{List: []tool.Value{}}
		for _, vars := range more.list {
			one := entries{}
			for _, x := range vars {
				one.add(x.Name, text(x.Value))
			}
			v.List = append(v.List, tool.Value{Map: one})
		}
		m.add(more.key, v)
	}
	if s.MaxParallel > 0 {
		m.add("max-parallel", number(s.MaxParallel))
	}
	if s.FailFast {
		m.add("fail-fast", yes())
	}
	e.add("matrix", tool.Value{Map: m})
}

func noteKey(n int) string { return fmt.Sprintf("x-imported-note-%d", n) }

// withNotes replaces the keys of comments by comments above their steps.
func (w *writer) withNotes(text []byte) []byte {
	if len(w.notes) == 0 {
		return text
	}
	// The number of spaces before name is that of the key: both are keys of one mapping.
	re := regexp.MustCompile(`(?m)^( *)- x-imported-note-(\d+): ""\n +name:`)
	return re.ReplaceAllFunc(text, func(m []byte) []byte {
		parts := re.FindSubmatch(m)
		var n int
		fmt.Sscan(string(parts[2]), &n)
		if n >= len(w.notes) {
			return m
		}
		indent := string(parts[1])
		return []byte(comment(w.notes[n], indent) + indent + "- name:")
	})
}

func comment(notes []string, indent string) string {
	var b strings.Builder
	for _, n := range notes {
		for line := range strings.SplitSeq(clean(n), "\n") {
			b.WriteString(strings.TrimRight(indent+"# "+line, " ") + "\n")
		}
	}
	return b.String()
}

package tool

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

var (
	toolName      = pattern(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)
	stepName      = pattern(`^[A-Za-z_][A-Za-z0-9_.-]*$`)
	parameterName = pattern(`^[A-Za-z_][A-Za-z0-9_-]*$`)
	variableName  = pattern(`^[A-Za-z_][A-Za-z0-9_]*$`)
	windowsDevice = pattern(`(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)`)
	levelForm     = pattern(`^[0-9]{1,9}(\.[0-9]{1,9}){0,2}$`)
)

// reserved are roots of references that are no parameter and no step.
var reserved = []string{"env", "RAW", "last", "item", "index", "matrix", "run"}

// predefined are the variables every tool has; a parameter of such a name wins.
var predefined = []string{"TOOL_NAME", "WORKSPACE", "TEMP", "HOME", "OS", "DATE", "TIME", "TIMESTAMP"}

// ValidName says whether name may be the name of a tool: up to 128 letters,
// digits and _ . -, not beginning with '.' or '-', and no device of Windows,
// because names become file names.
func ValidName(name string) bool {
	return toolName().MatchString(name) && !windowsDevice().MatchString(name)
}

// bodies are the keys of a mapping that say what it runs.
func bodies(o *Object, content []*yaml.Node) []*yaml.Node {
	var found []*yaml.Node
	for i := 0; i+1 < len(content); i += 2 {
		key := content[i].Value
		f := o.Field(key)
		twice := slices.ContainsFunc(found, func(n *yaml.Node) bool { return n.Value == key }) // told by shape
		if f != nil && f.Body && !twice {
			found = append(found, content[i])
		}
	}
	return found
}

// oneBody reports a step or tool with no command or with more than one (S1-025).
func (d *decoder) oneBody(o *Object, n *yaml.Node, content []*yaml.Node) {
	found := bodies(o, content)
	switch {
	case len(found) == 0:
		d.fail(n, "no-body", o.Name+" needs something to run", "add one of: "+strings.Join(o.bodyKeys(), ", "))
	case len(found) > 1:
		for _, second := range found[1:] {
			d.path.push(second.Value)
			one := d.diagnostic(second, Error, "two-bodies", fmt.Sprintf("%s runs one thing: %s is given on line %d and %s on line %d", o.Name, quote(found[0].Value), found[0].Line, quote(second.Value), second.Line),
				"keep one of the two, or make steps of them")
			one.Related = []Place{d.firstHere(found[0])}
			d.report(one)
			d.path.pop()
		}
	}
	d.shellFits(content)
}

func (d *decoder) shellFits(content []*yaml.Node) {
	shell := keyOf(content, "shell")
	if shell != nil && keyOf(content, "script") == nil && keyOf(content, "commands") == nil {
		d.failKey(shell, "shell-without-script", "shell has no script to read", "write the command under 'script:' instead, or remove 'shell:'")
	}
}

// checkTool looks at the top of a file as a whole. Like the other checks it
// reaches the table through d.root, because the table refers to it.
func checkTool(d *decoder, into any, n *yaml.Node, content []*yaml.Node) {
	t := into.(*draft)
	d.toolName(t, n, "name", content)
	if t.Alias {
		d.alias(t, n, content)
	} else {
		d.oneBody(d.root, n, content)
		for _, key := range []string{"base-tool", "default-parameters"} {
			if k := keyOf(content, key); k != nil {
				d.failKey(k, "alias-key", fmt.Sprintf("%q belongs to an alias", key), "add 'type: alias' and remove what the tool runs itself, or remove this key")
			}
		}
	}
	if t.Description == "" && valueOf(content, "description") == nil {
		d.warn(n, "no-description", "the tool has no description", "add 'description:', which people and models choose the tool by")
	}
	if steps := valueOf(content, "steps"); steps != nil && deref(steps).Kind == yaml.SequenceNode && len(deref(steps).Content) == 0 {
		d.fail(steps, "no-steps", "the list of steps is empty", "add a step: - name: ... with a command such as bash:")
	}
	d.versions(t, content)
	d.timeouts(t, content)
	d.cacheOfTool(t, content)
	d.locks(t, content)
	if !t.Alias && t.single.Kind != "" && len(t.Steps) == 0 {
		t.Single = true
		t.single.Name, t.single.Pos = t.Name, t.Pos
		t.Steps = []*Step{&t.single}
	}
}

func (d *decoder) toolName(t *draft, n *yaml.Node, key string, content []*yaml.Node) {
	written := valueOf(content, key)
	if written != nil {
		n = deref(written)
		d.path.push(key)
		defer d.path.pop()
	}
	switch {
	case ValidName(t.Name):
	case t.Name == "" && written == nil:
		d.fail(n, "no-name", "the tool has no name", "add 'name:'")
	case written == nil:
		d.fail(n, "bad-name", fmt.Sprintf("the file's name %s cannot be the tool's name", quote(t.Name)), "add 'name:'")
	default:
		d.fail(n, "bad-name", fmt.Sprintf("%s cannot be the name of a tool", quote(t.Name)),
			"use up to 128 letters, digits, '_', '.' and '-', beginning with a letter, a digit or '_', and none of the device names of Windows")
	}
	if file := stem(t.File); written != nil && file != "" && t.Name != file {
		d.warn(n, "name-differs", fmt.Sprintf("the tool is called %s but its file %s; the name counts", quote(t.Name), quote(file)), "rename one of them")
	}
}

// aliasKeys are the keys of an alias; all others, but those that begin with x-, belong to
// its base tool. Of security it has what is stricter than its base tool's.
var aliasKeys = []string{"name", "type", "base-tool", "default-parameters", "description", "version", "tags", "deprecated", "deprecated-message",
	"timeout", "schedule", "security", "tests"}

func (d *decoder) alias(t *draft, n *yaml.Node, content []*yaml.Node) {
	for i := 0; i+1 < len(content); i += 2 {
		key := content[i]
		switch f := d.root.Field(key.Value); {
		case f == nil || slices.Contains(aliasKeys, f.Key): // one that nobody knows was reported
		case f.Body:
			d.failKey(key, "alias-with-body", fmt.Sprintf("an alias runs its base tool and nothing of its own, but has %s", quote(key.Value)), "remove it, or remove 'type: alias'")
		default:
			d.failKey(key, "alias-with-body", fmt.Sprintf("%s has no effect in an alias: it belongs to the tool that the alias stands for", quote(key.Value)),
				"put it in the base tool; an alias may say "+strings.Join(aliasKeys, ", "))
		}
	}
	if security := valueOf(content, "security"); security != nil && deref(security).Kind == yaml.MappingNode {
		if key := keyOf(deref(security).Content, "required-permissions"); key != nil {
			d.path.push("security")
			d.failKey(key, "alias-with-body", "an alias cannot ask for permissions: it has those of its base tool", "put them in the base tool")
			d.path.pop()
		}
	}
	if valueOf(content, "base-tool") == nil {
		d.fail(keyOf(content, "type"), "no-base-tool", "an alias needs the tool it stands for", "add 'base-tool:'")
	}
}

// timeouts joins the two bounds on a run: the smaller one counts (S1-191).
func (d *decoder) timeouts(t *draft, content []*yaml.Node) {
	bounds := []time.Duration{}
	for _, b := range []*time.Duration{t.timeout, t.resTimeout} {
		if b != nil {
			bounds = append(bounds, *b)
		}
	}
	if len(bounds) == 0 {
		return
	}
	t.Timeout = slices.Min(bounds)
	if len(bounds) == 2 && bounds[0] != bounds[1] {
		d.path.push("timeout")
		d.warn(keyOf(content, "timeout"), "two-timeouts", fmt.Sprintf("timeout and resources.timeout differ; the smaller one counts: %s", t.Timeout), "keep one of the two")
		d.path.pop()
	}
}

func checkStep(d *decoder, into any, n *yaml.Node, content []*yaml.Node) {
	s := into.(*Step)
	d.oneBody(stepTable(d), n, content)
	d.loops(s, content)
	if with := keyOf(content, "with"); with != nil && keyOf(content, "use-tool") == nil {
		d.failKey(with, "with-without-use-tool", "with gives parameters to a tool, but the step uses none", "add 'use-tool:', or put the values into the command")
	}
	if name := valueOf(content, "name"); name == nil {
		one := d.diagnostic(n, Error, "no-name", "the step has no name", "add 'name:', which conditions and references call it by")
		if !d.full() {
			one.Fix = d.named(n)
		}
		d.report(one)
	} else if s.Name != "" || deref(name).ShortTag() == "!!str" {
		d.goodName("a step", stepName(), s.Name, deref(name), "use letters, digits, '_', '.' and '-', beginning with a letter or '_'")
	}
}

// stepTable is the table of a step, reached through the decoder like the tool's.
func stepTable(d *decoder) *Object { return d.root.Field("steps").Of }

func (d *decoder) goodName(what string, form *regexp.Regexp, name string, n *yaml.Node, hint string) {
	switch {
	case !form.MatchString(name) || len(name) > 128:
		d.fail(n, "bad-name", fmt.Sprintf("%s cannot be the name of %s", quote(name), what), hint+", at most 128 characters")
	case slices.Contains(reserved, name):
		d.fail(n, "reserved-name", fmt.Sprintf("%s cannot be the name of %s: it is reserved", quote(name), what), "reserved: "+strings.Join(reserved, ", "))
	}
}

func checkCommands(d *decoder, into any, n *yaml.Node, content []*yaml.Node) {
	c := into.(*Commands)
	if c.Default == nil && len(c.Platforms) == 0 && len(content) == 0 {
		d.fail(n, "no-body", "commands holds no command", "add 'default:', or 'platforms:' with windows, linux or macos")
	}
}

func checkRetry(d *decoder, into any, n *yaml.Node, content []*yaml.Node) {
	r := into.(*Retry)
	r.Pos = d.pos(n)
	if valueOf(content, "attempts") == nil {
		d.fail(n, "no-attempts", "retry does not say how often", "add 'attempts:', the number of retries after the first try")
	}
	if r.MaxDelay > 0 && r.MaxDelay < r.Delay {
		d.warn(n, "delay-over-bound", fmt.Sprintf("delay %s is over max-delay %s, which counts", r.Delay, r.MaxDelay), "raise max-delay or lower delay")
	}
}

// variableNames reports names that no environment can hold (S1-176).
func (d *decoder) variableNames(vars []Entry) {
	for _, e := range vars {
		if !variableName().MatchString(e.Key) {
			d.report(Diagnostic{Code: "bad-name", Severity: Error, Pos: e.Pos, Len: len([]rune(e.Key)), Path: d.path.String(),
				Message: fmt.Sprintf("%s cannot be the name of an environment variable", quote(e.Key)), Hint: "use letters, digits and '_', not beginning with a digit"})
		}
	}
}

// checkEnvironment reports variables that have two values.
func checkEnvironment(d *decoder, into any, n *yaml.Node, content []*yaml.Node) {
	e := into.(*Environment)
	names := map[string]bool{}
	for _, v := range e.Variables {
		names[v.Key] = true
	}
	for _, s := range e.Secrets {
		if s.Sourced() && names[s.Name.S] {
			d.reportAt(s.Name.Pos, Error, "two-values", "secrets", quote(s.Name.S)+" is given more than one value", "remove one of the two")
		}
		names[s.Name.S] = names[s.Name.S] || s.Sourced()
	}
}

func checkSecret(d *decoder, into any, n *yaml.Node, content []*yaml.Node) {
	s := into.(*Secret)
	if valueOf(content, "name") == nil {
		d.fail(n, "no-name", "the secret has no name", "add 'name:', the variable that gets its value")
	}
	for _, name := range []*Text{&s.Name, s.Env} {
		if name != nil && name.Pos.Line > 0 && !variableName().MatchString(name.S) {
			d.reportAt(name.Pos, Error, "bad-name", "", quote(name.S)+" cannot be the name of an environment variable", "use letters, digits and '_', not beginning with a digit")
		}
	}
	var sources []*yaml.Node
	for _, key := range []string{"env", "file", "command"} {
		if at := keyOf(content, key); at != nil {
			sources = append(sources, at)
		}
	}
	switch {
	case len(sources) == 0:
		d.fail(n, "no-source", "the secret has no source", "add one of env, file, command; to mask a variable or parameter that there is, write its name alone")
	case len(sources) > 1:
		d.failKey(sources[1], "two-values", "the secret has more than one source", "keep one of env, file, command")
	}
}

func checkEnvFile(d *decoder, into any, n *yaml.Node, content []*yaml.Node) {
	if valueOf(content, "path") == nil {
		d.fail(n, "no-path", "the env file has no path", "add 'path:', or write the path alone")
	}
}

// check looks at the definition as a whole: what its parts say of each other.
func (d *decoder) check(t *draft) {
	lists := t.lists()
	steps := d.stepNames(t, lists)
	d.parameterNames(t, steps)
	for _, l := range lists {
		d.waits(l, steps)
	}
	d.handlers(t, lists)
	d.itemNames(t, lists, steps)
	d.caches(t, lists)
	d.testParameters(t)
	d.scheduleNames(t)
}

// stepNames is the steps by name, reporting names that stand twice. Names that
// differ only by case are one name, because they become file names.
func (d *decoder) stepNames(t *draft, lists []stepList) map[string]*Step {
	names := make(map[string]*Step, len(t.Steps))
	lower := make(map[string]*Step, len(t.Steps))
	for _, l := range lists {
		d.namesOnce(l, names, lower)
	}
	if t.Single {
		return nil // the step has no name of its own to be mistaken for anything
	}
	return names
}

func (d *decoder) namesOnce(l stepList, names, lower map[string]*Step) {
	for i, s := range l.steps {
		if s.Name == "" {
			continue
		}
		names[s.Name] = s
		first, taken := lower[strings.ToLower(s.Name)]
		if !taken {
			lower[strings.ToLower(s.Name)] = s
			continue
		}
		message := fmt.Sprintf("step name %s is given twice: at %s and at %s", quote(s.Name), first.Pos.lineCol(), s.Pos.lineCol())
		if first.Name != s.Name {
			message = fmt.Sprintf("step name %s at %s differs from %s at %s only by case", quote(s.Name), s.Pos.lineCol(), quote(first.Name), first.Pos.lineCol())
		}
		d.report(Diagnostic{Code: "duplicate-step", Severity: Error, Pos: s.Pos, Len: len([]rune(s.Name)), Path: fmt.Sprintf("%s[%d].name", l.path, i), Message: message, Hint: "give the step another name",
			Related: []Place{firstGiven(first)}})
	}
}

func firstGiven(s *Step) Place {
	return Place{Pos: s.Pos, Len: len([]rune(s.Name)), Message: "first given here"}
}

// parameterNames reports names of parameters that clash with others.
func (d *decoder) parameterNames(t *draft, steps map[string]*Step) {
	for _, p := range t.Parameters {
		one := Diagnostic{Severity: Error, Pos: p.Pos, Len: len([]rune(p.Name)), Path: "parameters." + printable(p.Name)}
		switch {
		case !parameterName().MatchString(p.Name) || len(p.Name) > 128:
			one.Code, one.Message = "bad-name", fmt.Sprintf("%s cannot be the name of a parameter", quote(p.Name))
			one.Hint = "use letters, digits, '_' and '-', beginning with a letter or '_', at most 128 characters"
		case slices.Contains(reserved, p.Name):
			one.Code, one.Message = "reserved-name", fmt.Sprintf("%s cannot be the name of a parameter: it is reserved", quote(p.Name))
			one.Hint = "reserved: " + strings.Join(reserved, ", ")
		case steps[p.Name] != nil:
			one.Code, one.Message = "name-taken", fmt.Sprintf("%s is the name of a parameter and of the step on line %d", quote(p.Name), steps[p.Name].Pos.Line)
			one.Hint = "rename one of them: a reference could mean either"
			one.Related = []Place{firstGiven(steps[p.Name])}
		case slices.Contains(predefined, p.Name):
			one.Code, one.Severity = "shadows-predefined", Warning
			one.Message, one.Hint = fmt.Sprintf("the parameter %s hides the predefined variable of that name", quote(p.Name)), "rename it if the variable is meant"
		default:
			continue
		}
		d.report(one)
	}
}

// waits reports what a step cannot wait for: itself, and steps that do not stand in
// the same list.
func (d *decoder) waits(l stepList, all map[string]*Step) {
	var names []string
	steps := make(map[string]bool, len(l.steps))
	for _, s := range l.steps {
		steps[s.Name] = true
	}
	for i, s := range l.steps {
		for j, w := range s.WaitFor {
			if w.S != s.Name && steps[w.S] {
				continue
			}
			one := Diagnostic{Code: "unknown-step", Severity: Error, Pos: w.Pos, Len: max(1, len([]rune(w.S))), Path: fmt.Sprintf("%s[%d].wait-for[%d]", l.path, i, j)}
			if w.S == s.Name {
				one.Code, one.Message, one.Hint = "waits-for-itself", fmt.Sprintf("step %s waits for itself", quote(s.Name)), "remove the name from wait-for"
				d.report(one)
				continue
			}
			if all[w.S] != nil {
				one.Message = fmt.Sprintf("step %s waits for %s, which stands in another list of steps", quote(s.Name), quote(w.S))
				one.Hint = "steps wait for steps of their own list; a group, or a handler, waits for what is around it already"
				d.report(one)
				continue
			}
			one.Message = fmt.Sprintf("step %s waits for %s, which is no step of this tool", quote(s.Name), quote(w.S))
			if !d.full() {
				if names == nil {
					names = nameList(l.steps)
				}
				others := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == s.Name })
				one.Hint = orList(didYouMean(w.S, others), "steps: ", others)
				one.Fix = renameTo(w, Near(w.S, others))
			}
			d.report(one)
		}
	}
}

// renameTo is the edit that gives a text the one name that it can have meant.
func renameTo(t Text, near []string) []Edit {
	if len(near) != 1 {
		return nil
	}
	return t.Rename(0, t.S, near[0])
}

func nameList(steps []*Step) []string {
	names := make([]string, len(steps))
	for i, s := range steps {
		names[i] = s.Name
	}
	return names
}

// orList is a suggestion, or without one the names there are, if they are few.
func orList(suggestion, title string, names []string) string {
	switch {
	case suggestion != "":
		return suggestion
	case len(names) == 0:
		return "there are none"
	case len(names) > 8:
		return fmt.Sprintf("%s%s and %d more", title, strings.Join(names[:8], ", "), len(names)-8)
	}
	return title + strings.Join(names, ", ")
}

// testParameters reports parameters of tests that the tool does not have
// (S1-249). Those of an alias are its base tool's and not known here.
func (d *decoder) testParameters(t *draft) {
	if t.Alias {
		return
	}
	var names []string
	known := make(map[string]bool, len(t.Parameters))
	for _, p := range t.Parameters {
		names = append(names, p.Name)
		known[p.Name] = true
	}
	for i, test := range t.Tests {
		for _, e := range test.Parameters {
			if !known[e.Key] && !d.full() {
				one := Diagnostic{Code: "unknown-parameter", Severity: Error, Pos: e.Pos, Len: len([]rune(e.Key)), Path: fmt.Sprintf("tests[%d].parameters.%s", i, printable(e.Key)),
					Message: fmt.Sprintf("the test gives the parameter %s, which the tool does not have", quote(e.Key)), Hint: orList(didYouMean(e.Key, names), "parameters: ", names)}
				if near := Near(e.Key, names); len(near) == 1 {
					one.Fix = d.src.rename(e.Pos, e.Key, near[0])
				}
				d.report(one)
			}
		}
	}
}

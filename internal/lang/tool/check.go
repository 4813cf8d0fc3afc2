package tool

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/keytable"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/internal/os/devicename"
)

var (
	toolName      = diagnostic.Pattern(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)
	stepName      = diagnostic.Pattern(`^[A-Za-z_][A-Za-z0-9_.-]*$`)
	parameterName = diagnostic.Pattern(`^[A-Za-z_][A-Za-z0-9_-]*$`)
	levelForm     = diagnostic.Pattern(`^[0-9]{1,9}(\.[0-9]{1,9}){0,2}$`)
)

// Reserved returns the roots of references that have a fixed meaning. They cannot be names of parameters or steps.
func Reserved() []string { return slices.Clone(reserved) }

var reserved = []string{"env", "RAW", "last", "item", "index", "matrix", "run"}

// predefined are the variables that every tool has. A parameter with such a name hides the variable.
var predefined = []string{"TOOL_NAME", "WORKSPACE", "TEMP", "HOME", "OS", "DATE", "TIME", "TIMESTAMP"}

// ValidName reports whether name can be the name of a tool: up to 128 letters, digits, '_', '.' and '-', beginning with
// a letter, a digit or '_'. Device names of Windows such as nul are not valid, because names become file names.
//
// It does what the pattern toolName says, without compiling it: every command checks a name, and the pattern is large.
func ValidName(name string) bool {
	return name != "" && len(name) <= 128 && name[0] != '.' && name[0] != '-' &&
		!strings.ContainsFunc(name, notInName) && !devicename.Is(name)
}

// ValidStepName reports whether name has the form of the name of a step.
func ValidStepName(name string) bool { return len(name) <= 128 && stepName().MatchString(name) }

func notInName(r rune) bool {
	return (r|0x20 < 'a' || r|0x20 > 'z') && (r < '0' || r > '9') && r != '_' && r != '.' && r != '-'
}

// bodyKeys returns the keys of a mapping that are bodies.
func bodyKeys(o *keytable.Object, content []*yaml.Node) []*yaml.Node {
	var found []*yaml.Node
	for i := 0; i+1 < len(content); i += 2 {
		key := content[i].Value
		f := o.Field(key)
		twice := slices.ContainsFunc(found, func(n *yaml.Node) bool { return n.Value == key }) // Shape has already reported the duplicate key
		if f != nil && f.Body && !twice {
			found = append(found, content[i])
		}
	}
	return found
}

// checkBody reports a step or tool that has no body, or more than one.
func checkBody(d *keytable.Decoder, o *keytable.Object, n *yaml.Node, content []*yaml.Node) {
	found := bodyKeys(o, content)
	switch {
	case len(found) == 0 && o.Misspells(content, o.BodyKeys()...):
	case len(found) == 0:
		d.Fail(n, "no-body", o.Name+" needs something to run", "add one of: "+strings.Join(o.BodyKeys(), ", "))
	case len(found) > 1:
		for _, second := range found[1:] {
			d.Path.Push(second.Value)
			one := d.Diagnostic(second, Error, "two-bodies", fmt.Sprintf("%s can only have one of these keys: %s on line %d, %s on line %d", o.Name, diagnostic.Quote(found[0].Value), found[0].Line, diagnostic.Quote(second.Value), second.Line),
				"keep one of the two, or write a step for each")
			one.Related = []Place{d.FirstPlace(found[0])}
			d.Report(one)
			d.Path.Pop()
		}
	}
	checkShell(d, content)
}

func checkShell(d *keytable.Decoder, content []*yaml.Node) {
	shell := keytable.KeyOf(content, "shell")
	if shell == nil {
		return
	}
	if v := keytable.Deref(keytable.ValueOf(content, "shell")); strings.Contains(v.Value, "{0}") {
		program, _, _ := strings.Cut(v.Value, " ")
		d.Fail(v, "shell-template", fmt.Sprintf("shell is the name of a program, not a command line with {0}: %s", diagnostic.Quote(v.Value)),
			fmt.Sprintf("write 'shell: %s': flowrun passes the file of the script itself", diagnostic.Printable(program)))
	}
	if keytable.KeyOf(content, "script") == nil && keytable.KeyOf(content, "commands") == nil {
		d.FailKey(shell, "shell-without-script", "shell has no effect without script or commands", "write the command under 'script:' instead, or remove 'shell:'")
	}
}

// checkTool checks the top of a file as a whole. Like the other checks, it gets the key table from d.Root: naming
// toolObject here would be an initialization cycle, because the table refers to the checks.
func checkTool(d *keytable.Decoder, into any, n *yaml.Node, content []*yaml.Node) {
	t := into.(*Draft)
	CheckToolName(d, t, n, "name", content)
	if t.Alias {
		checkAlias(d, content)
	} else {
		checkBody(d, d.Root, n, content)
		for _, key := range []string{"base-tool", "default-parameters"} {
			if k := keytable.KeyOf(content, key); k != nil {
				d.FailKey(k, "alias-key", fmt.Sprintf("%q is only for aliases", key), "add 'type: alias' and remove the tool's own commands, or remove this key")
			}
		}
	}
	if t.Description == "" && keytable.ValueOf(content, "description") == nil {
		d.Warn(n, "no-description", "the tool has no description", "add 'description:'; people and models choose the tool by it")
	}
	if steps := keytable.ValueOf(content, "steps"); steps != nil && keytable.Deref(steps).Kind == yaml.SequenceNode && len(keytable.Deref(steps).Content) == 0 {
		d.Fail(steps, "no-steps", "the list of steps is empty", "add a step: - name: ... with a command such as bash:")
	}
	CheckShared(d, t, content)
	checkToolCache(d, t, content)
	checkToolArtifacts(d, t, content)
	checkToolClaim(d, t, content)
	checkState(d, t, content)
	if !t.Alias && t.single.Body != nil && len(t.Steps) == 0 {
		t.Single = true
		t.single.Name, t.single.Pos = t.Name, t.Pos
		t.Steps = []*Step{&t.single}
		t.single.Outputs = t.Outputs
	}
	checkOutputs(d, t.Outputs, !t.Single)
}

func CheckToolName(d *keytable.Decoder, t *Draft, n *yaml.Node, key string, content []*yaml.Node) {
	written := keytable.ValueOf(content, key)
	if written != nil {
		n = keytable.Deref(written)
		d.Path.Push(key)
		defer d.Path.Pop()
	}
	switch {
	case ValidName(t.Name):
	case t.Name == "" && written == nil:
		d.Fail(n, "no-name", "the tool has no name", "add 'name:'")
	case written == nil:
		d.Fail(n, "bad-name", fmt.Sprintf("the tool has no name, and the file name %s cannot be used as one", diagnostic.Quote(t.Name)), "add 'name:'")
	case t.Format == Markdown && key == "name" && ValidName(nameFromTitle(t.Name)):
		d.Fail(n, "bad-name", fmt.Sprintf("%s cannot be the name of a tool", diagnostic.Quote(t.Name)), "add 'id: "+nameFromTitle(t.Name)+"'; name: is then the title for people")
	default:
		d.Fail(n, "bad-name", fmt.Sprintf("%s cannot be the name of a tool", diagnostic.Quote(t.Name)),
			"use up to 128 letters, digits, '_', '.' and '-', beginning with a letter, a digit or '_'; device names of Windows such as nul are reserved")
	}
	if file := Stem(t.File); written != nil && file != "" && t.Name != file {
		d.Warn(n, "name-differs", fmt.Sprintf("the tool is named %s, but its file is named %s; the name of the tool applies", diagnostic.Quote(t.Name), diagnostic.Quote(file)), "rename one of them")
	}
}

// nameFromTitle returns the name for a title: "Daily Summary" is daily_summary.
func nameFromTitle(title string) string {
	return strings.ToLower(strings.Join(strings.Fields(title), "_"))
}

// aliasKeys are the keys that an alias may have, beside those that begin with x-. All others belong to its base tool.
// Security can only make the base tool's settings stricter.
var aliasKeys = []string{"name", "type", "base-tool", "default-parameters", "description", "version", "tags", "deprecated", "deprecated-message",
	"timeout", "schedule", "on", "security", "tests"}

func checkAlias(d *keytable.Decoder, content []*yaml.Node) {
	for i := 0; i+1 < len(content); i += 2 {
		key := content[i]
		switch f := d.Root.Field(key.Value); {
		case f == nil || slices.Contains(aliasKeys, f.Key): // Object has already reported an unknown key
		case f.Body:
			d.FailKey(key, "alias-with-body", fmt.Sprintf("an alias only runs its base tool and cannot have %s", diagnostic.Quote(key.Value)), "remove it, or remove 'type: alias'")
		default:
			d.FailKey(key, "alias-with-body", fmt.Sprintf("%s has no effect in an alias: the base tool's applies", diagnostic.Quote(key.Value)),
				"move it to the base tool; an alias can have "+strings.Join(aliasKeys, ", "))
		}
	}
	if security := keytable.ValueOf(content, "security"); security != nil && keytable.Deref(security).Kind == yaml.MappingNode {
		if key := keytable.KeyOf(keytable.Deref(security).Content, "required-permissions"); key != nil {
			d.Path.Push("security")
			d.FailKey(key, "alias-with-body", "an alias cannot declare permissions: it has those of its base tool", "move them to the base tool")
			d.Path.Pop()
		}
	}
	if keytable.ValueOf(content, "base-tool") == nil {
		d.Fail(keytable.KeyOf(content, "type"), "no-base-tool", "the alias has no base tool", "add 'base-tool:' with the name of the tool that it runs")
	}
}

// mergeTimeouts combines timeout and resources.timeout: the smaller one applies.
func mergeTimeouts(d *keytable.Decoder, t *Draft, content []*yaml.Node) {
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
		d.Path.Push("timeout")
		d.Warn(keytable.KeyOf(content, "timeout"), "two-timeouts", fmt.Sprintf("timeout and resources.timeout differ; the smaller one applies: %s", t.Timeout), "keep one of the two")
		d.Path.Pop()
	}
}

func checkStep(d *keytable.Decoder, into any, n *yaml.Node, content []*yaml.Node) {
	s := into.(*Step)
	checkBody(d, stepTable(d), n, content)
	checkLoops(d, content)
	checkArguments(d, content)
	checkStepOutputs(d, s, content)
	checkClaim(d, s, content)
	checkStepContainer(d, s, content)
	if use, ok := s.Body.(*ToolUse); ok && use.Tool.Pos.Line == 0 { // the step has with, but not use-tool
		s.Body = nil
	}
	if name := keytable.ValueOf(content, "name"); name == nil {
		one := d.Diagnostic(n, Error, "no-name", "the step has no name", "add 'name:'; conditions and references need it")
		if !d.Full() {
			one.Fix = d.NameEdit(n, "step")
		}
		d.Report(one)
	} else if s.Name != "" || keytable.Deref(name).ShortTag() == "!!str" {
		checkName(d, "a step", stepName(), s.Name, keytable.Deref(name), "use letters, digits, '_', '.' and '-', beginning with a letter or '_'")
	}
}

// checkArguments checks the keys that pass parameters to another tool: with, and arguments, which is the same.
func checkArguments(d *keytable.Decoder, content []*yaml.Node) {
	with, arguments := keytable.KeyOf(content, "with"), keytable.KeyOf(content, "arguments")
	if with != nil && arguments != nil {
		d.FailKey(arguments, "two-bodies", "a step can only have one of with and arguments, which mean the same", "move the values to with")
	}
	for _, key := range []*yaml.Node{with, arguments} {
		if key != nil && keytable.KeyOf(content, "use-tool") == nil {
			d.FailKey(key, "with-without-use-tool", key.Value+" passes parameters to a tool, but the step does not use one", "add 'use-tool:', or write the values into the command, such as bash: grep {PATTERN} {FILE}")
		}
	}
}

// argumentsHint says what to write instead of arguments: beside a command. They are only for tools that a step uses.
var argumentsHint = keytable.FixedHint("write the values into the command, such as bash: grep {PATTERN} {FILE}; only a step with use-tool: has arguments")

func commandHint(*yaml.Node) string {
	return "write bash: or sh: for a script, run: for a program with its arguments, or commands: for one command per platform"
}

// stepTable returns the key table of a step. It is found through the decoder, for the same reason as in checkTool.
func stepTable(d *keytable.Decoder) *keytable.Object { return d.Root.Field("steps").Of }

func checkName(d *keytable.Decoder, what string, form *regexp.Regexp, name string, n *yaml.Node, hint string) {
	switch {
	case !form.MatchString(name) || len(name) > 128:
		d.Fail(n, "bad-name", fmt.Sprintf("%s cannot be the name of %s", diagnostic.Quote(name), what), hint+", at most 128 characters")
	case slices.Contains(reserved, name):
		d.Fail(n, "reserved-name", fmt.Sprintf("%s cannot be the name of %s: it is reserved", diagnostic.Quote(name), what), "reserved: "+strings.Join(reserved, ", "))
	}
}

func checkCommands(d *keytable.Decoder, into any, n *yaml.Node, content []*yaml.Node) {
	c := into.(*Commands)
	if c.Default == nil && len(c.Platforms) == 0 && len(content) == 0 {
		d.Fail(n, "no-body", "commands is empty", "add 'default:', or 'platforms:' with windows, linux, macos or unix")
	}
}

// unix is a key for the command of both linux and macos.
const unix = "unix"

// spreadUnix stores the command for unix as that of linux and macos, if they have none, so that only the decoder knows
// the key.
func spreadUnix(_ *keytable.Decoder, into any, _ *yaml.Node, _ []*yaml.Node) {
	c := into.(*Commands)
	command, given := c.Platforms[unix]
	if !given {
		return
	}
	delete(c.Platforms, unix)
	for _, os := range []string{"linux", "macos"} {
		if _, own := c.Platforms[os]; !own {
			c.Platforms[os] = command
		}
	}
}

func checkRetry(d *keytable.Decoder, into any, n *yaml.Node, content []*yaml.Node) {
	r := into.(*Retry)
	r.Pos = d.Pos(n)
	if keytable.ValueOf(content, "attempts") == nil {
		d.Fail(n, "no-attempts", "retry has no number of attempts", "add 'attempts:', the number of retries after the first attempt")
	}
	if r.MaxDelay > 0 && r.MaxDelay < r.Delay {
		d.Warn(n, "delay-over-bound", fmt.Sprintf("delay %s is longer than max-delay %s; max-delay applies", r.Delay, r.MaxDelay), "raise max-delay or lower delay")
	}
}

func checkRepeat(d *keytable.Decoder, into any, n *yaml.Node, content []*yaml.Node) {
	r := into.(*Repeat)
	r.Pos = d.Pos(n)
	until, while := keytable.KeyOf(content, "until"), keytable.KeyOf(content, "while")
	switch {
	case until == nil && while == nil:
		d.Fail(n, "bad-repeat", "repeat has no condition", "add 'until:', the condition for the end, such as '{check.json.ready} == true' in the step check")
	case until != nil && while != nil:
		d.FailKey(while, "bad-repeat", "repeat can only have one of until and while", "keep one of the two; while: X means until: '!(X)'")
	}
	if r.MaxDelay > 0 && r.MaxDelay < r.Every {
		d.Warn(n, "delay-over-bound", fmt.Sprintf("every %s is longer than max-delay %s; max-delay applies", r.Every, r.MaxDelay), "raise max-delay or lower every")
	}
	if pause := keytable.KeyOf(content, "every"); r.Timeout > 0 && r.Timeout <= r.Every && pause != nil {
		d.FailKey(pause, "bad-repeat", fmt.Sprintf("the step would never have a second round: every %s is not shorter than timeout %s", r.Every, r.Timeout), "raise timeout or lower every")
	}
}

// checkVariableNames reports names that cannot be environment variables.
func checkVariableNames(d *keytable.Decoder, vars []Entry) {
	for _, e := range vars {
		if !value.IsVariableName(e.Key) {
			d.Report(Diagnostic{Code: "bad-name", Severity: Error, Pos: e.Pos, Len: len([]rune(e.Key)), Path: d.Path.String(),
				Message: fmt.Sprintf("%s cannot be the name of an environment variable", diagnostic.Quote(e.Key)), Hint: "use letters, digits and '_', not beginning with a digit"})
		}
	}
}

// checkEnvironment reports variables that are set more than once.
func checkEnvironment(d *keytable.Decoder, into any, n *yaml.Node, content []*yaml.Node) {
	e := into.(*Environment)
	names := map[string]bool{}
	for _, v := range e.Variables {
		names[v.Key] = true
	}
	for _, s := range e.Secrets {
		if s.Sourced() && names[s.Name.S] {
			reportAt(d, s.Name.Pos, Error, "two-values", "secrets", diagnostic.Quote(s.Name.S)+" is set more than once", "remove one of the two")
		}
		names[s.Name.S] = names[s.Name.S] || s.Sourced()
	}
}

func checkSecret(d *keytable.Decoder, into any, n *yaml.Node, content []*yaml.Node) {
	s := into.(*Secret)
	if keytable.ValueOf(content, "name") == nil {
		d.Fail(n, "no-name", "the secret has no name", "add 'name:' with the variable to set")
	}
	for _, name := range []*Text{&s.Name, s.Env} {
		if name != nil && name.Pos.Line > 0 && !value.IsVariableName(name.S) {
			reportAt(d, name.Pos, Error, "bad-name", "", diagnostic.Quote(name.S)+" cannot be the name of an environment variable", "use letters, digits and '_', not beginning with a digit")
		}
	}
	var sources []*yaml.Node
	for _, key := range []string{"env", "file", "command"} {
		if at := keytable.KeyOf(content, key); at != nil {
			sources = append(sources, at)
		}
	}
	switch {
	case len(sources) == 0:
		d.Fail(n, "no-source", "the secret has no source", "add one of env, file, command; to mask an existing variable or parameter, write only its name")
	case len(sources) > 1:
		d.FailKey(sources[1], "two-values", "the secret has more than one source", "keep one of env, file, command")
	}
}

func checkEnvFile(d *keytable.Decoder, into any, n *yaml.Node, content []*yaml.Node) {
	if keytable.ValueOf(content, "path") == nil {
		d.Fail(n, "no-path", "the env file has no path", "add 'path:', or write only the path")
	}
}

// CheckShared checks the keys that tools of every format have.
func CheckShared(d *keytable.Decoder, t *Draft, content []*yaml.Node) {
	checkVersions(d, t, content)
	mergeTimeouts(d, t, content)
	checkLocks(d, t.Locks)
	checkResource(d, t, content)
	checkAlternatives(d, t.Parameters)
	checkTestNames(d, t.Tests)
	checkScheduleNames(d, t)
	checkTriggerNames(d, t)
}

// checkDefinition checks the definition as a whole: rules that involve more than one of its parts.
func checkDefinition(d *keytable.Decoder, t *Draft) {
	lists := t.lists()
	steps := stepsByName(d, t, lists)
	CheckParameterNames(d, t, steps)
	for _, l := range lists {
		checkWaitFor(d, l, steps)
	}
	checkHandlers(d, t, lists)
	checkItemNames(d, t, lists, steps)
	checkCaches(d, t, lists)
	checkArtifacts(d, t, lists)
	checkTestParameters(d, t)
}

// stepsByName returns the steps by name and reports duplicate names. Names that differ only in case count as duplicates,
// because names become file names.
func stepsByName(d *keytable.Decoder, t *Draft, lists []stepList) map[string]*Step {
	names := make(map[string]*Step, len(t.Steps))
	lower := make(map[string]*Step, len(t.Steps))
	for _, l := range lists {
		checkUniqueNames(d, l, names, lower)
	}
	if t.Single {
		return nil // the only step has the name of the tool, which a parameter may have too
	}
	return names
}

func checkUniqueNames(d *keytable.Decoder, l stepList, names, lower map[string]*Step) {
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
		message := fmt.Sprintf("step name %s is used twice: at %s and at %s", diagnostic.Quote(s.Name), diagnostic.LineCol(first.Pos), diagnostic.LineCol(s.Pos))
		if first.Name != s.Name {
			message = fmt.Sprintf("step name %s at %s differs from %s at %s only in upper and lower case", diagnostic.Quote(s.Name), diagnostic.LineCol(s.Pos), diagnostic.Quote(first.Name), diagnostic.LineCol(first.Pos))
		}
		d.Report(Diagnostic{Code: "duplicate-step", Severity: Error, Pos: s.Pos, Len: len([]rune(s.Name)), Path: fmt.Sprintf("%s[%d].name", l.path, i), Message: message, Hint: "rename one of the steps",
			Related: []Place{firstUse(first)}})
	}
}

func firstUse(s *Step) Place {
	return Place{Pos: s.Pos, Len: len([]rune(s.Name)), Message: "first used here"}
}

// CheckParameterNames reports names of parameters that are invalid or already used.
func CheckParameterNames(d *keytable.Decoder, t *Draft, steps map[string]*Step) {
	for _, p := range t.Parameters {
		one := Diagnostic{Severity: Error, Pos: p.Pos, Len: len([]rune(p.Name)), Path: "parameters." + diagnostic.Printable(p.Name)}
		switch {
		case !parameterName().MatchString(p.Name) || len(p.Name) > 128:
			one.Code, one.Message = "bad-name", fmt.Sprintf("%s cannot be the name of a parameter", diagnostic.Quote(p.Name))
			one.Hint = "use letters, digits, '_' and '-', beginning with a letter or '_', at most 128 characters"
		case slices.Contains(reserved, p.Name):
			one.Code, one.Message = "reserved-name", fmt.Sprintf("%s cannot be the name of a parameter: it is reserved", diagnostic.Quote(p.Name))
			one.Hint = "reserved: " + strings.Join(reserved, ", ")
		case steps[p.Name] != nil:
			one.Code, one.Message = "name-taken", fmt.Sprintf("%s is the name of a parameter and also of the step on line %d", diagnostic.Quote(p.Name), steps[p.Name].Pos.Line)
			one.Hint = "rename one of them, so that references are clear"
			one.Related = []Place{firstUse(steps[p.Name])}
		case slices.Contains(predefined, p.Name):
			one.Code, one.Severity = "shadows-predefined", Warning
			one.Message, one.Hint = fmt.Sprintf("the parameter %s hides the predefined variable with that name", diagnostic.Quote(p.Name)), "to use the variable, rename the parameter"
		default:
			continue
		}
		d.Report(one)
	}
}

// checkWaitFor reports names in wait-for that a step cannot wait for: its own, and those of steps outside its own list.
func checkWaitFor(d *keytable.Decoder, l stepList, all map[string]*Step) {
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
				one.Code, one.Message, one.Hint = "waits-for-itself", fmt.Sprintf("step %s waits for itself", diagnostic.Quote(s.Name)), "remove the name from wait-for"
				d.Report(one)
				continue
			}
			if all[w.S] != nil {
				one.Message = fmt.Sprintf("step %s waits for %s, which is in another list of steps", diagnostic.Quote(s.Name), diagnostic.Quote(w.S))
				one.Hint = "a step can only wait for steps in its own list; groups and handlers already wait for the steps around them"
				d.Report(one)
				continue
			}
			one.Message = fmt.Sprintf("step %s waits for unknown step %s", diagnostic.Quote(s.Name), diagnostic.Quote(w.S))
			if !d.Full() {
				if names == nil {
					names = nameList(l.steps)
				}
				others := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == s.Name })
				one.Hint = hintOrList(diagnostic.DidYouMean(w.S, others), "steps: ", others)
				near := diagnostic.Near(w.S, others)
				if !slices.ContainsFunc(s.WaitFor, func(w Text) bool { return slices.Contains(near, w.S) }) { // probably another step is missing
					one.Fix = renameTo(w, near)
				}
			}
			d.Report(one)
		}
	}
}

// renameTo returns the edit that replaces a text by the only similar name, and nil if there are none or several.
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

// hintOrList returns the suggestion. If it is empty, it lists the names that exist, at most eight.
func hintOrList(suggestion, title string, names []string) string {
	switch {
	case suggestion != "":
		return suggestion
	case len(names) == 0:
		return title + "none"
	case len(names) > 8:
		return fmt.Sprintf("%s%s and %d more", title, strings.Join(names[:8], ", "), len(names)-8)
	}
	return title + strings.Join(names, ", ")
}

// checkTestParameters reports parameters of tests that the tool does not have. An alias is not checked: its parameters
// are those of its base tool, which is not known here.
func checkTestParameters(d *keytable.Decoder, t *Draft) {
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
			if known[e.Key] {
				continue
			}
			one := Diagnostic{Code: "unknown-parameter", Severity: Error, Pos: e.Pos, Len: len([]rune(e.Key)), Path: fmt.Sprintf("tests[%d].parameters.%s", i, diagnostic.Printable(e.Key)),
				Message: fmt.Sprintf("the test sets unknown parameter %s", diagnostic.Quote(e.Key))}
			if !d.Full() {
				one.Hint = hintOrList(diagnostic.DidYouMean(e.Key, names), "parameters: ", names)
				if near := diagnostic.Near(e.Key, names); len(near) == 1 {
					one.Fix = d.Src.Rename(e.Pos, e.Key, near[0])
				}
			}
			d.Report(one)
		}
	}
}

package decode

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/keytable"
	"github.com/flowrun/flowrun/internal/lang/markdown"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// The names of the steps of a Markdown tool. They are part of the history and of what flowrun shows of a run.
const (
	stepPre  = "preprocess"
	stepTool = "tool"
	stepPost = "postprocess"
)

// reservedPageNames have a meaning of their own in references. They cannot be names of steps.
var reservedPageNames = []string{"input", "output", "prev_step", stepPre, stepPost, "date", "time", "random_id", "pre", stepTool, "post"}

// pageBlocks are the blocks of a page that flowrun reads, by role.
type pageBlocks map[role]*markdown.Fence

// readBlocks reads the fenced blocks of a page and creates the steps.
func readBlocks(d *keytable.Decoder, p *pageDraft, all []markdown.Fence) {
	found, open := pageBlocks{}, false
	var first *markdown.Fence // with tool: or steps:
	for i := range all {
		f := &all[i]
		if !f.Closed {
			open = true
			d.Report(diagnostic.Diagnostic{Code: "unclosed-fence", Severity: diagnostic.Error, Pos: d.Src.Pos(f.Offset), Len: len(f.Marks),
				Message: "the block that begins here is not closed", Hint: "add a line with " + f.Marks + " after its last line"})
		}
		r := roleOf(d, f)
		before := found[r]
		if r == singleRole || r == chainRole {
			before = first
		}
		switch {
		case r == unknownRole:
		case before != nil:
			d.Report(diagnostic.Diagnostic{Code: "two-blocks", Severity: diagnostic.Error, Pos: d.Src.Pos(f.Offset), Len: len(f.Marks), Message: fmt.Sprintf("there is a second block with %s", r),
				Hint:    "keep one of the two; for text that is only shown, use another language such as ```text",
				Related: []diagnostic.Place{{Pos: d.Src.Pos(before.Offset), Len: len(before.Marks), Message: "the first is here"}}})
		default:
			found[r] = f
			if r == singleRole || r == chainRole {
				first = f
			}
		}
	}
	warnIgnoredScripts(d, found, all)
	calls := readCalls(d, p, found, open)
	addSteps(d, p, found, calls)
	names := map[string]*tool.Step{}
	if p.kind == "chain" {
		for _, s := range p.Steps {
			names[s.Name] = s
		}
	}
	tool.CheckParameterNames(d, p.Draft, names)
}

// roleOf returns the role of a block. A marker in a script that is similar to a valid one is reported; scripts with
// other markers are only part of the page.
func roleOf(d *keytable.Decoder, f *markdown.Fence) role {
	switch f.Language {
	case "yaml", "yml":
		return blockKeys(d.Src.Between(f.Body))
	case "javascript", "js":
	default:
		return unknownRole
	}
	code := d.Src.Block(f.Body, f.Indent)
	word, at := marker(code.S)
	known := []string{string(preBlock)[1:], string(postBlock)[1:]}
	if slices.Contains(known, word) {
		return role("@" + word)
	}
	plain := strings.ToLower(strings.NewReplacer("_", "", "-", "", "ing", "").Replace(word))
	near := diagnostic.Near(word, known)
	for _, k := range known {
		if plain == k || plain == strings.TrimSuffix(k, "process") {
			near = []string{k}
		}
	}
	if len(near) > 0 {
		one := diagnostic.Diagnostic{Code: "unknown-marker", Severity: diagnostic.Error, Pos: code.At(at), Len: 1 + len(word), Message: fmt.Sprintf("unknown marker @%s", diagnostic.Printable(word)),
			Hint: fmt.Sprintf("did you mean @%s?", near[0])}
		one.Fix = code.Rename(at, "@"+word, "@"+near[0])
		d.Report(one)
	}
	return unknownRole
}

// warnIgnoredScripts warns about scripts that have a marker, but whose block is not marked as JavaScript, if the page
// has no other script with that marker. They look as if they ran, but they don't.
func warnIgnoredScripts(d *keytable.Decoder, found pageBlocks, all []markdown.Fence) {
	for _, f := range all {
		if !slices.Contains([]string{"", "ts", "typescript", "jsx", "mjs", "node"}, f.Language) {
			continue
		}
		code := d.Src.Block(f.Body, f.Indent)
		word, at := marker(code.S)
		if r := role("@" + word); (r == preBlock || r == postBlock) && found[r] == nil {
			d.Report(diagnostic.Diagnostic{Code: "unknown-marker", Severity: diagnostic.Warning, Pos: code.At(at), Len: 1 + len(word),
				Message: fmt.Sprintf("the script with %s does not run: its block is not marked as JavaScript", r), Hint: "start the block with " + f.Marks + "javascript"})
		}
	}
}

// readCalls reads the block with tool: or steps:, and reports a block that does not match the type of the tool. If open
// is set, an unclosed block may have hidden it, so that a missing block is not reported.
func readCalls(d *keytable.Decoder, p *pageDraft, found pageBlocks, open bool) []*call {
	single, chain := found[singleRole], found[chainRole]
	at := func(f *markdown.Fence) diagnostic.Pos { return d.Src.Pos(f.Offset) }
	switch {
	case p.kind == "single" && chain != nil:
		d.Report(diagnostic.Diagnostic{Code: "single-with-steps", Severity: diagnostic.Error, Pos: at(chain), Len: len(chain.Marks),
			Message: "a tool of type single cannot have steps", Hint: "write type: chain, or replace the block with one that has tool: and parameters:"})
	case p.kind == "chain" && single != nil:
		d.Report(diagnostic.Diagnostic{Code: "chain-without-steps", Severity: diagnostic.Error, Pos: at(single), Len: len(single.Marks),
			Message: "a tool of type chain needs a block with steps:", Hint: "write type: single, or make the block a list of steps: steps:, and below it - tool:"})
	case p.kind == "chain" && chain == nil && !open:
		d.Report(diagnostic.Diagnostic{Code: "chain-without-steps", Severity: diagnostic.Error, Pos: p.Pos, Message: "a tool of type chain needs a block with steps:",
			Hint: "add a ```yaml block with steps:, and below it - tool: for each step"})
	case p.kind == "single" && single == nil && !open && found[preBlock] == nil && found[postBlock] == nil:
		d.Report(diagnostic.Diagnostic{Code: "no-body", Severity: diagnostic.Error, Pos: p.Pos, Message: "the tool has nothing to run", Hint: "add a ```yaml block with tool: and parameters:"})
	case p.kind == "single" && single == nil && !open:
		d.Report(diagnostic.Diagnostic{Code: "no-tool-block", Severity: diagnostic.Warning, Pos: p.Pos, Message: "the page runs no tool: its output is the result of pre-processing, or its input",
			Hint: "to run a tool, add a ```yaml block with tool: and parameters:"})
	}
	b := &callBlock{}
	switch {
	case chain != nil:
		readBlock(d, chain, pageTable().chain, b)
	case single != nil:
		b.calls = []*call{{step: &tool.Step{}}}
		readBlock(d, single, pageTable().single, b)
	}
	return b.calls
}

// readBlock decodes a block as YAML.
func readBlock(d *keytable.Decoder, f *markdown.Fence, o *keytable.Object, into *callBlock) {
	d.Within(f.Body, func() {
		d.Literals = true
		if root := d.Parse(); root != nil && d.Shape(root) {
			d.Root = o
			d.Object(o, into, root)
		}
		d.Literals = false
	})
}

// addSteps creates the steps: preprocess, those that use tools, postprocess.
func addSteps(d *keytable.Decoder, p *pageDraft, found pageBlocks, calls []*call) {
	if f := found[preBlock]; f != nil {
		s := scriptStep(stepPre, tool.RolePre, d.Src.Block(f.Body, f.Indent))
		addVar(s, "input", "{{input}}")
		p.Steps = append(p.Steps, s)
	}
	names, last := callNames(d, p, calls), ""
	for i, c := range calls {
		s := c.toStep(names[i], last)
		p.Steps, last = append(p.Steps, s), s.Name
	}
	if f := found[postBlock]; f != nil {
		s := scriptStep(stepPost, tool.RolePost, d.Src.Block(f.Body, f.Indent))
		s.Previous = last
		addOutputVars(s, last != "")
		p.Steps = append(p.Steps, s)
	}
}

// callNames returns the names of the steps that use tools. If a name that the author did not choose is already used, _2
// and so on is appended. It cannot be #2, because # marks a second attempt in paths.
func callNames(d *keytable.Decoder, p *pageDraft, calls []*call) []string {
	if len(calls) == 1 && calls[0].id == nil && p.kind != "chain" {
		return []string{stepTool}
	}
	names := make([]string, len(calls))
	lower := map[string]*call{}
	for i, c := range calls {
		if c.id == nil {
			continue
		}
		names[i] = c.id.S
		one := diagnostic.Diagnostic{Severity: diagnostic.Error, Pos: c.id.Pos, Len: len([]rune(c.id.S)), Path: fmt.Sprintf("steps[%d].id", i)}
		switch first := lower[strings.ToLower(c.id.S)]; {
		case !tool.ValidStepName(c.id.S):
			one.Code, one.Message = "bad-name", diagnostic.Quote(c.id.S)+" cannot be the name of a step"
			one.Hint = "use letters, digits, '_', '.' and '-', beginning with a letter or '_', at most 128 characters"
		case slices.Contains(reservedPageNames, c.id.S), slices.Contains(tool.Reserved(), c.id.S):
			one.Code, one.Message = "reserved-name", diagnostic.Quote(c.id.S)+" cannot be the name of a step: it is reserved"
			one.Hint = "reserved: " + strings.Join(append(slices.Clone(reservedPageNames), tool.Reserved()...), ", ")
		case first != nil:
			one.Code, one.Message = "duplicate-step", fmt.Sprintf("step name %s is used twice: at %s and at %s", diagnostic.Quote(c.id.S), diagnostic.LineCol(first.id.Pos), diagnostic.LineCol(c.id.Pos))
			one.Hint, one.Related = "change the id of one of the steps", []diagnostic.Place{{Pos: first.id.Pos, Len: len([]rune(first.id.S)), Message: "first used here"}}
		default:
			lower[strings.ToLower(c.id.S)] = c
			continue
		}
		d.Report(one)
	}
	for i, c := range calls {
		for n := 1; names[i] == ""; n++ {
			name := c.derivedName()
			if n > 1 {
				name = fmt.Sprintf("%s_%d", name, n)
			}
			if lower[strings.ToLower(name)] == nil && !slices.Contains(reservedPageNames, name) && !slices.Contains(tool.Reserved(), name) {
				names[i], lower[strings.ToLower(name)] = name, c
			}
		}
	}
	return names
}

// derivedName returns a name for the step, derived from its name or its tool.
func (c *call) derivedName() string {
	t := c.name
	if t == nil {
		t = c.tool
	}
	if t == nil {
		return "step"
	}
	name := []byte(t.S)
	if at := strings.LastIndexAny(t.S, `/\`); at >= 0 || isPage(t.S) {
		name = []byte(strings.TrimSuffix(t.S[at+1:], filepath.Ext(t.S)))
	}
	for i, b := range name {
		if !keytable.IsNameByte(b) && b != '.' {
			name[i] = '_'
		}
	}
	if len(name) > 120 {
		name = name[:120]
	}
	if !tool.ValidStepName(string(name)) {
		return "_" + string(name)
	}
	return string(name)
}

// toStep returns the step that uses the tool. If the call has scripts, the step is a group of the scripts and the
// tool.
func (c *call) toStep(name, previous string) *tool.Step {
	s, use := c.step, &tool.ToolUse{With: c.parameters.Map, WithAll: c.parameters.Text}
	s.Name, s.Body, s.Previous, s.Pos = name, use, previous, c.at
	switch {
	case c.tool != nil:
		use.Tool, s.Pos = *c.tool, c.tool.Pos
	case c.name != nil && !c.misspelled:
		use.Tool = *c.name
	}
	if c.name != nil {
		s.Pos = c.name.Pos
	}
	if c.id != nil {
		s.Pos = c.id.Pos
	}
	if c.pre == nil && c.post == nil {
		return s
	}
	group := &tool.StepGroup{}
	around := &tool.Step{Name: name, Pos: s.Pos, Body: group, ContinueOnError: s.ContinueOnError, RunCondition: s.RunCondition}
	s.Name, s.ContinueOnError, s.RunCondition = stepTool, false, nil
	if c.pre != nil {
		pre := scriptStep("pre", tool.RolePre, *c.pre)
		pre.Previous = previous
		code := pre.Script()
		code.Vars = append([]keytable.Entry{{Key: "input", Pos: c.parameters.Pos, Value: c.parameters}}, code.Vars...)
		if c.parameters.Pos.Line == 0 {
			code.Vars[0].Value = keytable.Value{Map: []keytable.Entry{}}
		}
		all := textAt("prev_step.output", s.Pos)
		s.Previous, use.With, use.WithAll = pre.Name, nil, &all
		group.Steps = append(group.Steps, pre)
	}
	group.Steps = append(group.Steps, s)
	if c.post != nil {
		post := scriptStep("post", tool.RolePost, *c.post)
		post.Previous = stepTool
		addOutputVars(post, true)
		group.Steps = append(group.Steps, post)
	}
	return around
}

// scriptStep returns a step that runs a script and can refer to the constants date, time and random_id.
func scriptStep(name string, r tool.Role, code diagnostic.Text) *tool.Step {
	s := &tool.Step{Name: name, Pos: code.Pos, Body: &tool.JSCode{Role: r, Code: code}}
	for _, c := range []string{"date", "time", "random_id"} {
		addVar(s, c, "{{"+c+"}}")
	}
	return s
}

// addVar adds a variable to the scope of the step's script; its value is a reference.
func addVar(s *tool.Step, name, reference string) {
	t := textAt(reference, s.Pos)
	code := s.Script()
	code.Vars = append(code.Vars, keytable.Entry{Key: name, Pos: s.Pos, Value: keytable.Value{Pos: s.Pos, Scalar: reference, Text: &t}})
}

// addOutputVars adds the variables of a postprocess script to its scope: the output of the previous step, as a value
// and as text. Without a previous step, the output is the input.
func addOutputVars(s *tool.Step, previous bool) {
	addVar(s, "input", "{{input}}")
	if !previous {
		addVar(s, "output", "{{input}}")
		return
	}
	addVar(s, "output", "prev_step.output")
	addVar(s, "outputText", "prev_step.outputText")
}

// textAt returns a text that flowrun made, with a position in the author's file.
func textAt(s string, p diagnostic.Pos) diagnostic.Text { return diagnostic.Text{S: s, Pos: p} }

package decode

import (
	"sync"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/keytable"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// This file is the table of keys for Markdown tools, in the form of keys.go: front matter, the block of a single tool,
// and the block of a chain. Keys with the same meaning as in YAML tools are taken from there.

// MarkdownKeys returns the objects of a Markdown tool: its front matter, the block of a single tool and the block of a
// chain. Do not modify them.
func MarkdownKeys() []*keytable.Object {
	t := pageTable()
	return []*keytable.Object{t.front, t.single, t.chain}
}

// pageTable is created when the first Markdown tool is read.
var pageTable = sync.OnceValue(func() (t struct{ front, single, chain *keytable.Object }) {
	retry := keytable.NewObject("error-handling of a Markdown tool", "What to do if a step fails.", func() []keytable.Field {
		return keytable.FieldsOf(tool.Keys().Field("error-handling").Of, func(e *tool.ErrorHandling) *tool.ErrorHandling { return e }, "retry")
	}) // without fallback, which is a shell command
	t.front = frontMatter(retry)
	t.single = singleBlock(retry)
	t.chain = keytable.NewObject("the block of a chain", "The steps of a chain. They run one after the other, and the first that fails ends the chain.", func() []keytable.Field {
		return []keytable.Field{
			keytable.List("steps", "S0-060", chainStep(retry), "The steps, in the order in which they run.", func(b *callBlock, p diagnostic.Pos) *call {
				c := &call{step: &tool.Step{Pos: p}}
				b.calls = append(b.calls, c)
				return c
			}).AsRequired(),
		}
	}).WithCheck(func(d *keytable.Decoder, _ any, _ *yaml.Node, content []*yaml.Node) {
		if steps := keytable.Deref(keytable.ValueOf(content, "steps")); steps.Kind == yaml.SequenceNode && len(steps.Content) == 0 {
			d.Fail(steps, "no-steps", "the list of steps is empty", "add a step: - tool: with the name of a tool")
		}
	})
	return t
})

// pageDraft is a Markdown tool that is being decoded.
type pageDraft struct {
	*tool.Draft
	id, name *diagnostic.Text
	kind     string // single or chain
}

// callBlock is a tool block that is being decoded.
type callBlock struct{ calls []*call }

// call is one use of a tool: the block of a single tool, or a step of a chain.
type call struct {
	step       *tool.Step
	at         diagnostic.Pos
	id, name   *diagnostic.Text
	tool       *diagnostic.Text
	misspelled bool // the key tool is misspelled, so the tool is not known
	parameters keytable.Value
	pre, post  *diagnostic.Text
}

func frontMatter(retry *keytable.Object) *keytable.Object {
	fields := []keytable.Field{
		keytable.Boolean("tool", "S0-010", "Must be true. flowrun ignores Markdown files without it.", func(*pageDraft, bool) {}).AsRequired(),
		keytable.Text("id", "S0-011", "Name of the tool, as used in commands. Default: name.", func(p *pageDraft, v diagnostic.Text) { p.id = &v }),
		keytable.Text("name", "S0-011", "Name of the tool. With id, only a title for people.", func(p *pageDraft, v diagnostic.Text) { p.name = &v }),
		keytable.Choice("type", "S0-012", []string{"single", "chain"}, "Kind of the page: single if it has a block with tool:, chain if it has a block with steps:.", func(p *pageDraft, v string) { p.kind = v }).AsRequired(),
		keytable.List("parameters", "S0-014", pageParameter(), "Parameters of the tool.", func(p *pageDraft, at diagnostic.Pos) *tool.ParameterDraft {
			one := &tool.Parameter{Pos: at, Type: "string", Required: true}
			p.Parameters = append(p.Parameters, one)
			return &tool.ParameterDraft{Parameter: one}
		}),
	}
	fields = append(fields, keytable.FieldsOf(tool.Keys(), func(p *pageDraft) *tool.Draft { return p.Draft },
		"description", "version", "min-cycod-version", "min-flowrun-version", "changelog", "schedule", "on", "deprecated", "deprecated-message", "prompt", "resource", "output-schema",
		"timeout", "platforms", "tags", "labels", "retry-run", "max-active-runs", "locks", "on-interrupt", "idempotent", "security", "metadata",
		"function-calling", "notify", "tests")...)
	fields = append(fields, keytable.Nested("environment", "S1-172", pageEnvironment, "Secrets of the tool.", func(p *pageDraft) *tool.Environment { return &p.Environment }))
	fields = append(fields, keytable.Nested("error-handling", "S1-078", retry, "Retry for every step that has none of its own.", func(p *pageDraft) *tool.ErrorHandling { return &p.ErrorHandling }))
	return keytable.NewObject("a Markdown tool", "The front matter of a Markdown tool, between the two lines of ---.", func() []keytable.Field { return fields }).WithCheck(checkPage).
		WithHint("steps", keytable.FixedHint("put steps: in a ```yaml block below the front matter")).
		WithHint("preprocess", keytable.FixedHint("put the script in a ```javascript block that begins with // @preprocess")).
		WithHint("postprocess", keytable.FixedHint("put the script in a ```javascript block that begins with // @postprocess"))
}

// pageEnvironment is the part of environment that applies to a tool without commands.
var pageEnvironment = keytable.NewObject("environment of a Markdown tool", "Secrets of the tool.", func() []keytable.Field {
	return []keytable.Field{
		keytable.Texts("secrets", "S1-172", "Names of parameters or environment variables whose values are masked.", func(e *tool.Environment, v []diagnostic.Text) {
			for _, name := range v {
				e.Secrets = append(e.Secrets, tool.Secret{Name: name})
			}
		}),
	}
})

// pageParameter returns the object for a parameter in a list. Such a parameter is required by default.
func pageParameter() *keytable.Object {
	fields := []keytable.Field{keytable.Text("name", "S0-015", "Name of the parameter.", func(p *tool.ParameterDraft, v diagnostic.Text) { p.Name, p.Pos = v.S, v.Pos }).AsRequired()}
	for _, f := range tool.Keys().Field("parameters").Of.Fields() {
		switch f.Key {
		case "type":
			f.Requirement, f.Default, f.Required = "S0-016", "", true
		case "required":
			f.Requirement, f.Default = "S0-018", "true"
		case "default":
			f.Doc = "Value if the caller passes none. Placeholders in it are not replaced."
		case "format", "delimiter", "security", "allow-dash": // these concern values in shell commands
			continue
		}
		fields = append(fields, f)
	}
	return keytable.NewObject("a parameter of a Markdown tool", "A parameter of the tool.", func() []keytable.Field { return fields }).WithCheck(checkPageParameter).
		WithHint("secret", tool.SecretHint).WithHint("sensitive", tool.SecretHint)
}

// callFields returns the keys that the block of a single tool and a step of a chain share.
func callFields[T any](retry *keytable.Object, of func(*T) *call) []keytable.Field {
	fields := []keytable.Field{
		keytable.Text("tool", "S0-040", "The tool to run, by name or path.", func(t *T, v diagnostic.Text) { of(t).tool = &v }),
		keytable.AnyValue("parameters", "S0-040", "Parameters for the tool: values, or references to input, preprocess, prev_step and steps.", func(t *T, v keytable.Value) { of(t).parameters = v }),
		keytable.Nested("error-handling", "S1-037", retry, "Retries of the step.", func(t *T) *tool.ErrorHandling { return &of(t).step.ErrorHandling }),
	}
	return append(fields, keytable.FieldsOf(tool.Keys().Field("steps").Of, func(t *T) *tool.Step { return of(t).step }, "timeout", "on-interrupt", "idempotent")...)
}

func singleBlock(retry *keytable.Object) *keytable.Object {
	fields := callFields(retry, func(b *callBlock) *call { return b.calls[0] })
	fields[0] = fields[0].AsRequired()
	return keytable.NewObject("the block of a single tool", "The tool that a page of type single runs, and its parameters.", func() []keytable.Field { return fields }).WithCheck(func(d *keytable.Decoder, into any, n *yaml.Node, content []*yaml.Node) {
		checkCall(d, into.(*callBlock).calls[0], n, content)
	})
}

func chainStep(retry *keytable.Object) *keytable.Object {
	fields := append([]keytable.Field{
		keytable.Text("id", "S0-060", "Name of the step. Default: name.", func(c *call, v diagnostic.Text) { c.id = &v }),
		keytable.Text("name", "S0-060", "Name of the step. Without tool, also the name of the tool to run.", func(c *call, v diagnostic.Text) { c.name = &v }),
	}, callFields(retry, func(c *call) *call { return c })...)
	for _, key := range []string{"pre_processing", "pre-processing"} {
		fields = append(fields, keytable.Text(key, "S0-062", "JavaScript that returns the parameters for the tool. input contains the parameters of the step.", func(c *call, v diagnostic.Text) { c.pre = &v }))
	}
	for _, key := range []string{"post_processing", "post-processing"} {
		fields = append(fields, keytable.Text(key, "S0-061", "JavaScript that returns the output of the step. output contains the output of the tool.", func(c *call, v diagnostic.Text) { c.post = &v }))
	}
	fields = append(fields, keytable.FieldsOf(tool.Keys().Field("steps").Of, func(c *call) *tool.Step { return c.step }, "continue-on-error", "run-condition")...)
	step := keytable.NewObject("a step of a chain", "A step that runs another tool.", func() []keytable.Field { return fields })
	return step.WithCheck(func(d *keytable.Decoder, into any, n *yaml.Node, content []*yaml.Node) {
		c := into.(*call)
		c.misspelled = c.tool == nil && step.Misspells(content, "tool")
		checkCall(d, into, n, content)
	}).WithHint("condition", conditionHint).WithHint("retry", retryHint)
}

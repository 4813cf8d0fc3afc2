package tool

import (
	"fmt"
	"regexp"
	"sync"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/keytable"
	"github.com/flowrun/flowrun/internal/lang/notifyrule"
	"github.com/flowrun/flowrun/internal/lang/version"
)

// This file is the table of keys. It has every key of a definition file, its values, its meaning, its id in
// docs/reference/requirements.md if it has one, and where its value is stored. The decoder walks the table; the JSON Schema and
// the reference page are generated from it. A key that is not in the table does not exist.

// Keys returns the object at the top of a definition file. All other objects are reachable from it through Field.Of. Do
// not modify it.
func Keys() *keytable.Object { return toolObject }

var (
	platformNames = []string{"windows", "linux", "macos"}
	typeNames     = []string{"string", "number", "boolean", "array", "object"}
	jsonTypes     = []string{"string", "number", "integer", "boolean", "array", "object"}
	interruptions = []string{"retry", "ask", "fail"}
	separators    = []string{`\`, "/"}
	overlaps      = []string{"skip", "queue", "cancel-running", "allow"}
	catchUps      = []string{"none", "once", "all"}
)

// Draft is a Definition that is being decoded, with values that are needed only until it is complete.
type Draft struct {
	*Definition
	single     Step           // the command of a tool without steps
	NamePos    Pos            // of name, if it was written
	timeout    *time.Duration // timeout and resources.timeout: the smaller one applies
	resTimeout *time.Duration

	outputSchema []Entry // the value of output-schema
	state        []*stateDraft
}

var toolObject = keytable.NewObject("a tool", "A tool: its name, its parameters and what it runs.", func() []keytable.Field {
	return append(bodyFields(func(t *Draft) *Step { return &t.single }),
		keytable.Text("name", "S1-010", "Name of the tool. Default: the file name without its extension.", func(t *Draft, v Text) { t.Name, t.NamePos = v.S, v.Pos }).WithForm(toolName),
		keytable.String("description", "S1-011", "What the tool does. People and models choose the tool by this text, so validate warns without it.", func(t *Draft, v string) { t.Description = v }),
		keytable.String("version", "S1-012", "Version of the tool, a semantic version such as 1.4.0.", func(t *Draft, v string) { t.Version = v }).WithForm(version.Form),
		keytable.Text("min-cycod-version", "S1-013", "Lowest compatibility level that can run the tool. flowrun version -o json shows the level of flowrun.", func(t *Draft, v Text) { t.MinVersion = &v }),
		keytable.Text("min-flowrun-version", "S1-013", "Lowest version of flowrun that can run the tool.", func(t *Draft, v Text) { t.MinFlowrun = &v }),
		keytable.List("changelog", "S1-014", changeObject, "Changes in each version.", func(t *Draft, p Pos) *Change { return add(&t.Changelog, Change{Pos: p}) }),
		keytable.Mixed("schedule", "", scheduleObject, "When flowrun serve starts the tool: cron expressions, or mappings with more keys. See schedules.md.",
			func(t *Draft) *Schedule { return addPointer(&t.Schedules, &Schedule{}) }, func(s *Schedule, v Text) { s.Cron, s.Pos = &v, v.Pos }),
		triggersField(),
		keytable.Boolean("deprecated", "S1-015", "Whether the tool is deprecated. Using it then prints a warning.", func(t *Draft, v bool) { t.Deprecated = v }).WithDefault("false"),
		keytable.String("deprecated-message", "S1-016", "What to use instead.", func(t *Draft, v string) { t.DeprecatedMessage = v }),

		keytable.Boolean("prompt", "", "Whether flowrun mcp also offers the tool as a prompt: its output is the message. See mcp.md.", func(t *Draft, v bool) { t.Prompt = v }).WithDefault("false"),

		resourceField(),

		keytable.Choice("type", "S1-165", []string{"alias"}, "With the value alias, the tool is an alias of the tool in base-tool.", func(t *Draft, _ string) { t.Alias = true }).WithNeeds("base-tool"),
		keytable.Text("base-tool", "S1-166", "The tool that an alias runs, by name or path.", func(t *Draft, v Text) { t.BaseTool = v }).WithNeeds("type"),
		keytable.ValueMap("default-parameters", "S1-167", "Values that an alias sets for parameters of its base tool.", func(t *Draft, v []Entry) { t.DefaultParameters = v }).WithNeeds("type"),

		stepsField(),
		handler("on-success", "Steps that run after all others, if the run succeeded so far.", func(t *Draft) *[]*Step { return &t.Handlers.OnSuccess }),
		handler("on-failure", "Steps that run after all others, if one of them failed.", func(t *Draft) *[]*Step { return &t.Handlers.OnFailure }),
		handler("finally", "Steps that run last, whether the others succeeded or not.", func(t *Draft) *[]*Step { return &t.Handlers.Finally }),
		withSchema(keytable.Named("parameters", "S1-090", parameterObject, "Parameters of the tool, by name.", func(t *Draft, name string, p Pos) *ParameterDraft {
			return &ParameterDraft{addPointer(&t.Parameters, &Parameter{Name: name, Pos: p, Type: "string"})}
		}).WithForm(parameterName)),
		environment("environment", func(t *Draft) *Environment { return &t.Environment }),
		envFiles(func(t *Draft) *[]EnvFile { return &t.EnvFiles }),
		keytable.Text("working-directory", "S1-186", "Working directory of the steps.", func(t *Draft, v Text) { t.WorkingDirectory = &v }),
		keytable.Nested("file-paths", "S1-180", filePathsObject, "How paths in parameters are rewritten, and where temporary files are created.", func(t *Draft) *FilePaths { return &t.FilePaths }),
		keytable.Duration("timeout", "S1-190", "Time limit of the whole run.", func(t *Draft, v time.Duration) { t.timeout = &v }),
		keytable.Choices("platforms", "S1-225", platformNames, "Platforms that the tool supports. Default: all.", func(t *Draft, v []string) { t.Platforms = v }),
		keytable.Strings("tags", "S1-224", "Categories of the tool. The tags read, write and run also say what the tool may do, for approvals.", func(t *Draft, v []string) { t.Tags = v }),
		labelsField("Labels of each run of the tool, by name, such as team: ops, to find its runs. They are stored and shown as they are written, without placeholders. See labels.md.",
			func(t *Draft) *map[string]string { return &t.Labels }),
		keytable.Boolean("ignore-errors", "S1-070", "Sets continue-on-error on every step.", func(t *Draft, v bool) { t.IgnoreErrors = v }).WithDefault("false"),
		keytable.Boolean("fail-fast", "S1-067", "At the first failure, stops the running steps and starts no others.", func(t *Draft, v bool) { t.FailFast = v }).WithDefault("false"),
		keytable.Text("input", "S1-200", "Standard input of the steps.", func(t *Draft, v Text) { t.Input = &v }),
		keytable.Text("output", "S1-087", "Output of the run, a text that may refer to steps, such as {build.output}.", func(t *Draft, v Text) { t.Output = &v }),
		outputsField("Values that a run gives to whoever started it, by name: what its steps wrote. A tool without steps writes them itself, as a step does. See outputs.md.", func(t *Draft) *[]*DeclaredOutput { return &t.Outputs }),
		outputSchema(),
		keytable.Nested("error-handling", "S1-078", errorHandlingObject, "Retry and fallback for every step that has none of its own.", func(t *Draft) *ErrorHandling { return &t.ErrorHandling }),
		retryRunField(),
		keytable.Boolean("strict", "S1-077", "Stops shell scripts at the first command that fails.", func(t *Draft, v bool) { t.Strict = v }).WithDefault("false"),
		keytable.Boolean("interactive", "S1-201", "Whether the steps have a terminal, so that a person can answer their questions.", func(t *Draft, v bool) { t.Interactive = v }).WithDefault("false"),
		interactiveOptions("How long an interactive step waits for input, and the default response.", func(t *Draft) *InteractiveOptions { return &t.InteractiveOptions }),
		keytable.Integer("max-active-runs", "", 1, 1<<20, "Maximum number of active runs of the tool. Further runs wait in a queue.", func(t *Draft, v int) { t.MaxActiveRuns = v }),
		locksField(),
		stateField(),
		keytable.Choice("on-interrupt", "", interruptions, "What to do with a step that was running when flowrun was killed: run it again (retry), ask a person (ask) or treat it as failed (fail). Default: retry for tools with the tag read and for idempotent steps, ask for all others.", func(t *Draft, v string) { t.OnInterrupt = v }),
		keytable.Boolean("idempotent", "", "Whether every step can safely run twice.", func(t *Draft, v bool) { t.Idempotent = v }).WithDefault("false"),
		keytable.Nested("resources", "S1-191", resourcesObject, "Limits on time and memory, and cleanup after the run.", func(t *Draft) *Draft { return t }),
		keytable.Nested("security", "S1-210", securityObject, "Privileges, isolation and permissions of the tool.", func(t *Draft) *Security { return &t.Security }),
		keytable.Nested("metadata", "S1-220", metadataObject, "Category and search terms of the tool.", func(t *Draft) *Metadata { return &t.Metadata }),
		keytable.Nested("function-calling", "S1-230", functionCallingObject, "How the tool is described to models.", func(t *Draft) *FunctionCalling { return &t.FunctionCalling }),
		keytable.List("notify", "", notifyObject, "Commands, webhooks and e-mails for when runs of the tool end.", func(t *Draft, p Pos) *Notify { return add(&t.Notify, Notify{Pos: p}) }),
		keytable.Strings("x-allow", "", "Names in braces that are text, although they look like a misspelled reference: with x-allow: [TARGT], {TARGT} is text. See substitution.md.", func(t *Draft, v []string) { t.TextInBraces = v }),
		keytable.List("tests", "S1-240", testObject, "Tests of the tool.", func(t *Draft, p Pos) *Test { return add(&t.Tests, Test{Pos: p}) }),
	)
}).WithCheck(checkTool).WithHint("arguments", argumentsHint).WithHint("command", commandHint)

var stepObject = keytable.NewObject("a step", "A step: a command, a script, a request, a wait, a question, a group of steps, or the use of another tool.", func() []keytable.Field {
	return append(bodyFields(func(s *Step) *Step { return s }),
		keytable.Text("name", "S1-030", "Name of the step. It must be unique in the tool.", func(s *Step, v Text) { s.Name, s.Pos = v.S, v.Pos }).AsRequired().WithForm(stepName),
		keytable.Text("use-tool", "S1-040", "Tool that the step runs, by name or path.", func(s *Step, v Text) { bodyOf[ToolUse](s).Tool = v }).AsBody(),
		keytable.Nested("wait", "", waitObject, "Waits for a time, a file, an address or a port.", bodyOf[Wait]).AsBody(),
		httpField(),
		sqlField(),
		sshField(),
		textOr("approve", "", approveObject, "Asks a person for approval before the run continues. A text is the question.", func(s *Step) *approveDraft {
			return &approveDraft{Approve: bodyOf[Approve](s)}
		}, func(a *approveDraft, v Text) { a.Pos, a.Prompt = v.Pos, v }).AsBody(),
		keytable.ValueMap("with", "S1-041", "Parameters for the tool in use-tool.", setArguments).WithNeeds("use-tool"),
		keytable.ValueMap("arguments", "S1-029", "Same as `with`.", setArguments).WithNeeds("use-tool"),
		keytable.Boolean("continue-on-error", "S1-033", "Tolerates a failure of the step: the run can still succeed, and later steps run.", func(s *Step, v bool) { s.ContinueOnError = v }).WithDefault("false"),
		keytable.Text("run-condition", "S1-034", "Condition for the step, such as {build.exit-code} == 0. If it is false, the step is skipped.", func(s *Step, v Text) { s.RunCondition = &v }),
		keytable.Boolean("parallel", "S1-035", "Starts the step at the same time as the step before it.", func(s *Step, v bool) { s.Parallel = v }).WithDefault("false"),
		keytable.Texts("wait-for", "S1-036", "The steps to wait for, instead of all earlier steps.", func(s *Step, v []Text) { s.WaitFor, s.HasWaitFor = v, true }),
		keytable.Nested("error-handling", "S1-037", errorHandlingObject, "Retry and fallback of the step.", func(s *Step) *ErrorHandling { return &s.ErrorHandling }),
		keytable.Nested("repeat", "", repeatObject, "Runs the step in rounds, until a condition on its own result holds.", func(s *Step) *Repeat {
			s.Repeat = &Repeat{Every: 10 * time.Second, Backoff: "constant", Jitter: "none"}
			return s.Repeat
		}),
		stepLocksField(),
		keytable.Duration("timeout", "S1-042", "Time limit of each attempt.", func(s *Step, v time.Duration) { s.Timeout = v }),
		keytable.Nested("output", "S1-043", outputObject, "How the output of the step is captured.", func(s *Step) *Output { return &s.Output }),
		outputsField("Values that the step writes to the file in $FLOWRUN_OUTPUT, by name, with their types. See outputs.md.", func(s *Step) *[]*DeclaredOutput { return &s.Outputs }),
		keytable.Text("input", "S1-200", "Standard input of the step.", func(s *Step, v Text) { s.Input = &v }),
		containerField(),
		environment("environment", func(s *Step) *Environment { return &s.Environment }),
		envFiles(func(s *Step) *[]EnvFile { return &s.EnvFiles }),
		keytable.Text("working-directory", "S1-186", "Working directory of the step.", func(s *Step, v Text) { s.WorkingDirectory = &v }),
		keytable.Boolean("strict", "S1-077", "Stops the shell script at the first command that fails. Default: that of the tool.", func(s *Step, v bool) { s.Strict = &v }),
		keytable.Boolean("interactive", "S1-201", "Whether the step has a terminal, so that a person can answer its questions. Default: that of the tool.", func(s *Step, v bool) { s.Interactive = &v }),
		interactiveOptions("How long the step waits for input, and the default response. Default for each key: that of the tool.", func(s *Step) *InteractiveOptions { return &s.InteractiveOptions }),
		keytable.Boolean("detach", "", "Leaves background processes of the step running after the run ends.", func(s *Step, v bool) { s.Detach = v }).WithDefault("false"),
		keytable.Choice("on-interrupt", "", interruptions, "What to do with the step if it was running when flowrun was killed. Default: that of the tool.", func(s *Step, v string) { s.OnInterrupt = v }),
		keytable.Boolean("idempotent", "", "Whether the step can safely run twice. Default: that of the tool.", func(s *Step, v bool) { s.Idempotent = &v }),
	)
}).WithCheck(checkStep).WithHint("command", commandHint).WithHint("max-parallel", func(*yaml.Node) string { return `put it into "for-each" or "matrix"` })

// A step can contain steps, so these fields refer back to stepObject. They are added here because a reference in its
// own initializer would be an initialization cycle.
func init() {
	stepObject.Add(func() []keytable.Field {
		return []keytable.Field{
			keytable.List("steps", "", stepObject, "Steps of a group. Other steps treat the group as one step.", func(s *Step, p Pos) *Step {
				return addPointer(&bodyOf[StepGroup](s).Steps, &Step{Pos: p})
			}).AsBody(),
			keytable.Nested("for-each", "", forEachObject, "Runs the step once for each item of a list.", func(s *Step) *Loop { return s.loop() }).WithExcludes("matrix"),
			matrix(),
			handler("on-success", "Steps that run after this one, if it succeeded.", func(s *Step) *[]*Step { return &s.Handlers.OnSuccess }),
			handler("on-failure", "Steps that run after this one, if it failed.", func(s *Step) *[]*Step { return &s.Handlers.OnFailure }),
			handler("finally", "Steps that run after this one, whether it succeeded or not.", func(s *Step) *[]*Step { return &s.Handlers.Finally }),
		}
	})
}

// setArguments sets the parameters that a step passes to the tool that it uses.
func setArguments(s *Step, v []Entry) {
	if _, ok := s.Body.(*ToolUse); ok || s.Body == nil {
		bodyOf[ToolUse](s).With = v
	}
}

// bodyOf returns the body of the step if it has type B. Otherwise it gives the step a new body of that type.
func bodyOf[B any, P interface {
	*B
	Body
}](s *Step) *B {
	if b, ok := s.Body.(P); ok {
		return b
	}
	b := P(new(B))
	s.Body = b
	return b
}

func handler[T any](key, doc string, to func(*T) *[]*Step) keytable.Field {
	return keytable.List(key, "", stepObject, doc, func(into *T, p Pos) *Step { return addPointer(to(into), &Step{Pos: p}) })
}

func (s *Step) loop() *Loop {
	if s.Loop == nil {
		s.Loop = &Loop{}
	}
	return s.Loop
}

// loopFields returns the keys that for-each and matrix share.
func loopFields() []keytable.Field {
	return []keytable.Field{
		keytable.Integer("max-parallel", "", 1, 1<<20, "Maximum number of items that run at once. Default: the limit on steps (--max-parallel).", func(l *Loop, n int) { l.MaxParallel = n }),
		keytable.Integer("min-success", "", 1, 1<<20, "How many items must succeed. Default: all.", func(l *Loop, n int) { l.MinSuccess = n }),
		keytable.Boolean("fail-fast", "", "Once the loop can no longer succeed, stops its running items and starts no others.", func(l *Loop, v bool) { l.FailFast = v }).WithDefault("false"),
	}
}

var forEachObject = keytable.NewObject("for-each", "A loop: the step runs once for each item of a list.", func() []keytable.Field {
	return append([]keytable.Field{
		keytable.AnyValue("items", "", "The items: a list, a reference to a list, to lines of text or to a JSON array, or an expression such as 1..5.", func(l *Loop, v Value) { l.Items = &v }).AsRequired().WithTypes("array", "string"),
		keytable.Text("as", "", "Name of the item in the step, as in {item}.", func(l *Loop, v Text) { l.As = &v }).WithDefault("item"),
		keytable.Text("key", "", "Name of an item in paths and logs, such as {item.name}. Default: its number, counted from 0.", func(l *Loop, v Text) { l.Key = &v }),
	}, loopFields()...)
}).WithCheck(checkForEach)

var matrixObject = keytable.NewObject("matrix", "A loop over combinations: every further key is a name with a list of values, and the step runs once for each combination.", func() []keytable.Field {
	return append([]keytable.Field{
		keytable.AnyValues("include", "", "Combinations to add, or extra values for existing combinations.", func(l *Loop, v []Value) { l.Include = v }),
		keytable.AnyValues("exclude", "", "Combinations to remove. An entry removes every combination that has all its values.", func(l *Loop, v []Value) { l.Exclude = v }),
	}, loopFields()...)
}).WithCheck(checkMatrix)

// matrix returns the field matrix. Its object has fixed keys, and names with lists of values.
func matrix() keytable.Field {
	f := keytable.Nested("matrix", "", matrixObject, "Runs the step once for each combination of values.", func(s *Step) *Loop { return s.loop() })
	f.Kind = keytable.KindMatrix
	f.Set = func(d *keytable.Decoder, into any, n *yaml.Node) {
		if keytable.Deref(n).Kind == yaml.SequenceNode {
			d.Fail(n, "wrong-type", "expected a mapping of names to lists, found a list", "write matrix: {NAME: [a, b]}")
			return
		}
		l := into.(*Step).loop()
		d.ObjectAnd(matrixObject, l, n, func(key, v *yaml.Node) {
			d.Path.Push(key.Value)
			if read, ok := d.Value(v); ok {
				l.Axes = append(l.Axes, Entry{Key: key.Value, Pos: d.Pos(key), Value: read})
			}
			d.Path.Pop()
		})
	}
	return f
}

// bodyFields returns the keys that a step and a tool without steps share: the kinds of command, shell, cache and
// artifacts.
func bodyFields[T any](step func(*T) *Step) []keytable.Field {
	command := func(kind Kind, row, doc string) keytable.Field {
		return keytable.Text(string(kind), row, doc, func(t *T, v Text) { step(t).Body = &Command{kind, v} }).AsBody().AsCommand()
	}
	return append(claimFields(step),
		command(Bash, "S1-020", "Script for bash."),
		command(Sh, "S1-020", "Script for sh."),
		command(Cmd, "S1-021", "Script for cmd on Windows."),
		command(Pwsh, "S1-022", "Script for PowerShell."),
		command(Run, "S1-023", "Program and arguments, started without a shell."),
		command(Python, "S1-029", "Script for Python."),
		command(Script, "S1-024", "Script for the program in shell."),
		keytable.Text(string(JS), "", "JavaScript: the body of a function. Its return value is the result of the step. See javascript.md.", func(t *T, v Text) {
			step(t).Body = &JSCode{Role: RoleStep, Code: v}
		}).AsBody().AsCommand(),
		keytable.Text("shell", "S1-025", "Interpreter of script and commands. The value default is the shell of the platform: bash, or cmd on Windows.", func(t *T, v Text) {
			if v.S != "default" {
				step(t).Shell = &v
			}
		}).WithDefault("default").WithNeeds("script", "commands"),
		keytable.Nested("commands", "S1-026", commandsObject, "One command for each platform.", func(t *T) *Commands {
			c := &Commands{Platforms: map[string]Text{}}
			step(t).Body = c
			return c
		}).AsBody(),
		keytable.Nested("cache", "", cacheObject, "Reuses the stored result while nothing that the command depends on has changed. See cache.md.", func(t *T) *Cache {
			step(t).Cache = &Cache{}
			return step(t).Cache
		}),
		keytable.Mixed("artifacts", "", artifactObject, "Files that are kept with the run when the step ends: paths, folders or patterns, or mappings with more keys. See artifacts.md.",
			func(t *T) *Artifact { return addPointer(&step(t).Artifacts, &Artifact{}) }, func(a *Artifact, v Text) { a.Path, a.Pos = &v, v.Pos }),
	)
}

// stepsField returns the field steps of a tool. A list with more than MaxSteps steps is rejected without being decoded.
func stepsField() keytable.Field {
	f := keytable.List("steps", "S1-030", stepObject, "The steps. They run in this order, unless parallel, wait-for or a reference changes it.", func(t *Draft, p Pos) *Step {
		return addPointer(&t.Steps, &Step{Pos: p})
	}).AsBody()
	each := f.Set
	f.Set = func(d *keytable.Decoder, into any, n *yaml.Node) {
		if steps := keytable.Deref(n); len(steps.Content) > keytable.MaxSteps && steps.Kind == yaml.SequenceNode {
			d.Fail(steps, "too-many-steps", fmt.Sprintf("the tool has %d steps, but at most %d are allowed", len(steps.Content), keytable.MaxSteps), "split the tool and join the parts with use-tool")
			return
		}
		each(d, into, n)
	}
	return f
}

// environment returns the field for environment variables, written as a section or just as {NAME: value}.
func environment[T any](key string, part func(*T) *Environment) keytable.Field {
	f := keytable.Nested(key, "S1-170", environmentObject, "Environment variables.", part)
	f.Kind = keytable.KindEnvironment
	full := f.Set
	flat := keytable.TextMap(key, f.Requirement, f.Doc, func(into *T, v []Entry) { part(into).Variables = v }).Set
	f.Set = func(d *keytable.Decoder, into any, n *yaml.Node) {
		set := flat
		if section := keytable.Deref(n); section.Kind == yaml.MappingNode {
			content := d.Merged(section)
			for _, k := range environmentObject.Keys() {
				if keytable.KeyOf(content, k) != nil {
					set = full
				}
			}
		}
		set(d, into, n)
		checkVariableNames(d, part(into.(*T)).Variables)
	}
	return f
}

// envFiles returns the field for a list of .env files.
func envFiles[T any](of func(*T) *[]EnvFile) keytable.Field {
	return keytable.Mixed("env-files", "", envFileObject, "Files of environment variables (.env). Later files override earlier ones, and environment overrides all files.",
		func(into *T) *EnvFile { return add(of(into), EnvFile{}) }, func(f *EnvFile, v Text) { f.Path = v })
}

// withPos wraps a field so that it stores the position of its value, for messages about it.
func withPos[T any](f keytable.Field, pos func(*T) *Pos) keytable.Field {
	read := f.Set
	f.Set = func(d *keytable.Decoder, into any, n *yaml.Node) {
		*pos(into.(*T)) = d.Pos(n)
		read(d, into, n)
	}
	return f
}

// imageField returns the field for a container image. Names that begin with a dash are rejected: the program that
// starts the container would read them as an option.
func imageField() keytable.Field {
	f := keytable.String("image", "S1-211", "Container image for isolation: container.", func(s *Security, v string) { s.Image = v }).WithDefault(DefaultImage).WithForm(imageName)
	read := f.Set
	f.Set = func(d *keytable.Decoder, into any, n *yaml.Node) {
		if v := keytable.Deref(n); v.Kind == yaml.ScalarNode && !imageName().MatchString(v.Value) {
			d.Fail(n, "bad-image", fmt.Sprintf("invalid image name %s", diagnostic.Printable(v.Value)), `write it as registries have it: "docker.io/library/debian:12", or with a whole digest after @sha256:`)
			return
		}
		read(d, into, n)
	}
	return withPos(f, func(s *Security) *Pos { return &s.ImagePos })
}

// imageName matches approximately what registries allow: [host[:port]/]path[:tag][@digest].
var imageName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/-]*(@sha256:[0-9a-f]{64}|@sha512:[0-9a-f]{128})?$`)
})

// interactiveOptions stores the position of its value, for the message that the options have no effect.
func interactiveOptions[T any](doc string, part func(*T) *InteractiveOptions) keytable.Field {
	f := keytable.Nested("interactive-options", "S1-202", interactiveObject, doc, part)
	read := f.Set
	f.Set = func(d *keytable.Decoder, into any, n *yaml.Node) {
		part(into.(*T)).Pos = d.Pos(n)
		read(d, into, n)
	}
	return f
}

// streamCallbackField stores the position of its value, for the message that no Go function receives the output.
func streamCallbackField() keytable.Field {
	f := keytable.Choice("stream-callback", "S1-046", []string{"console", "file", "function"}, "Where streamed output goes: to the console, to a file, or to a function of a Go program.", func(o *Output, v string) { o.StreamCallback = v }).WithDefault("console")
	read := f.Set
	f.Set = func(d *keytable.Decoder, into any, n *yaml.Node) {
		into.(*Output).StreamPos = d.Pos(n)
		read(d, into, n)
	}
	return f
}

var approveObject = keytable.NewObject("approve", "A question to a person: the text, the form and the time limit.", func() []keytable.Field {
	return []keytable.Field{
		keytable.Text("prompt", "", "The question to show.", func(a *approveDraft, v Text) { a.Prompt = v }).AsRequired(),
		keytable.ValueMap("form", "", "Values that the person fills in: a JSON Schema (2020-12) of an object, with properties.", func(a *approveDraft, v []Entry) { a.form = v }),
		keytable.Duration("timeout", "", "How long to wait for an answer. Default: forever.", func(a *approveDraft, v time.Duration) { a.Timeout = v }),
		keytable.Choice("on-timeout", "", []string{"approve", "reject", "fail"}, "What to do if there is no answer in time. The value approve uses the default values of the form.", func(a *approveDraft, v string) { a.OnTimeout = v }).WithDefault("fail"),
		keytable.Boolean("hold", "", "Keep the locks of the run, and its place among the active runs of the tool, while it waits.", func(a *approveDraft, v bool) { a.Hold = v }),
	}
}).WithCheck(checkApprove).WithHint("message", func(*yaml.Node) string { return `did you mean "prompt"?` })

var waitObject = keytable.NewObject("wait", "What the step waits for: exactly one of for, until, file, http and port.", func() []keytable.Field {
	return []keytable.Field{
		keytable.Duration("for", "", "Waits for this duration.", func(w *Wait, v time.Duration) { w.For = v }).AsBody(),
		keytable.Text("until", "", "Waits until this time, in RFC 3339 format: 2026-03-01T09:00:00Z.", func(w *Wait, v Text) { w.Until = &v }).AsBody(),
		keytable.Text("file", "", "Waits until this file or folder exists. A relative path starts at the tool's working directory.", func(w *Wait, v Text) { w.File = &v }).AsBody(),
		keytable.Text("http", "", "Waits until a GET request to this URL returns a status from 200 to 299. Redirects are followed.", func(w *Wait, v Text) { w.HTTP = &v }).AsBody(),
		keytable.Text("port", "", "Waits until this HOST:PORT accepts connections.", func(w *Wait, v Text) { w.Port = &v }).AsBody(),
		keytable.Integer("status", "", 100, 599, "The status that the URL in http must return, instead of 200 to 299.", func(w *Wait, v int) { w.Status = v }),
		keytable.Duration("interval", "", "Time between two checks of a file, a URL or a port. The first checks follow each other faster.", func(w *Wait, v time.Duration) { w.Interval = v }).WithDefault("1000"),
	}
}).WithCheck(checkWait)

var commandsObject = keytable.NewObject("commands", "One command for each platform.", func() []keytable.Field {
	return []keytable.Field{
		keytable.Text("default", "S1-026", "Command for platforms that have none in platforms.", func(c *Commands, v Text) { c.Default = &v }).AsCommand(),
		keytable.Nested("platforms", "S1-027", platformsObject, "Commands for specific platforms.", func(c *Commands) *Commands { return c }),
	}
}).WithCheck(checkCommands)

var platformsObject = keytable.NewObject("platforms", "Commands for specific platforms.", func() []keytable.Field {
	return []keytable.Field{
		keytable.Text("windows", "S1-027", "Command on Windows.", func(c *Commands, v Text) { c.Platforms["windows"] = v }).AsCommand(),
		keytable.Text("linux", "S1-027", "Command on Linux.", func(c *Commands, v Text) { c.Platforms["linux"] = v }).AsCommand(),
		keytable.Text("macos", "S1-027", "Command on macOS.", func(c *Commands, v Text) { c.Platforms["macos"] = v }).AsCommand(),
		keytable.Text(unix, "S1-027", "Command on Linux and macOS, unless they have one of their own.", func(c *Commands, v Text) { c.Platforms[unix] = v }).AsCommand(),
	}
}).WithCheck(spreadUnix)

var errorHandlingObject = keytable.NewObject("error-handling", "What to do if a step fails.", func() []keytable.Field {
	return []keytable.Field{
		keytable.Nested("retry", "S1-037", retryObject, "Retries of a failed step.", func(e *ErrorHandling) *Retry {
			e.Retry = defaultRetry()
			return e.Retry
		}),
		keytable.Text("fallback", "S1-039", "Command that runs once if the last attempt failed.", func(e *ErrorHandling, v Text) { e.Fallback = &v }).AsCommand(),
	}
})

func defaultRetry() *Retry { return &Retry{Delay: time.Second, Backoff: "exponential", Jitter: "none"} }

var retryObject = keytable.NewObject("retry", "How often, when and after which failures a step is retried.", func() []keytable.Field {
	return []keytable.Field{
		keytable.Integer("attempts", "S1-037", 0, 1000, "Number of retries after the first attempt.", func(r *Retry, v int) { r.Attempts = v }).AsRequired(),
		keytable.Duration("delay", "S1-038", "Delay before the first retry.", func(r *Retry, v time.Duration) { r.Delay = v }).WithDefault("1000"),
		keytable.Choice("backoff", "S1-073", []string{"exponential", "linear", "constant"}, "How the delay grows with each retry: it doubles (exponential), it grows by the same amount (linear), or it stays the same (constant).", func(r *Retry, v string) { r.Backoff = v }).WithDefault("exponential"),
		keytable.Duration("max-delay", "S1-073", "Maximum delay.", func(r *Retry, v time.Duration) { r.MaxDelay = v }),
		keytable.Choice("jitter", "S1-073", []string{"none", "full"}, "With the value full, the delay is random, between 0 and the computed one.", func(r *Retry, v string) { r.Jitter = v }).WithDefault("none"),
		keytable.Integers("exit-codes", "", 0, 255, "Exit codes after which the step is retried. Default: all.", func(r *Retry, v []int) { r.ExitCodes = v }),
		keytable.Integers("not-exit-codes", "", 0, 255, "Exit codes after which the step is not retried.", func(r *Retry, v []int) { r.NotExitCodes = v }),
		keytable.Text("when", "", "Condition for a retry. It may refer to the last attempt, as in {last.exit-code} == 75.", func(r *Retry, v Text) { r.When = &v }),
	}
}).WithCheck(checkRetry)

var repeatObject = keytable.NewObject("repeat", "How often a step runs, and when it has run for the last time. See polling.md.", func() []keytable.Field {
	return []keytable.Field{
		keytable.Text("until", "", "Condition for the end, such as {check.json.ready} == true in the step check. It is evaluated after each round.", func(r *Repeat, v Text) { r.Until = &v }),
		keytable.Text("while", "", "Condition for another round; the opposite of until.", func(r *Repeat, v Text) { r.While = &v }),
		keytable.Duration("every", "", "Pause between the end of a round and the start of the next.", func(r *Repeat, v time.Duration) { r.Every = v }).WithDefault("10s"),
		keytable.Choice("backoff", "", []string{"constant", "linear", "exponential"}, "How the pause grows with each round: it stays the same (constant), it grows by the same amount (linear), or it doubles (exponential).", func(r *Repeat, v string) { r.Backoff = v }).WithDefault("constant"),
		keytable.Duration("max-delay", "", "Maximum pause.", func(r *Repeat, v time.Duration) { r.MaxDelay = v }),
		keytable.Choice("jitter", "", []string{"none", "full"}, "With the value full, the pause is random, between 0 and the computed one.", func(r *Repeat, v string) { r.Jitter = v }).WithDefault("none"),
		keytable.Integer("max", "", 1, 1000000, "Maximum number of rounds. If the condition still does not hold, the step fails. Default: no limit.", func(r *Repeat, v int) { r.Max = v }),
		keytable.Duration("timeout", "", "Time limit of all rounds together, from the start of the first. Then the step has timed out. Default: none.", func(r *Repeat, v time.Duration) { r.Timeout = v }),
	}
}).WithCheck(checkRepeat).WithHint("interval", everyHint).WithHint("delay", everyHint)

func everyHint(*yaml.Node) string { return `write "every"` }

var cacheObject = keytable.NewObject("cache", "The inputs and outputs of a step. Its command and the environment in the definition are always inputs.", func() []keytable.Field {
	return []keytable.Field{
		keytable.Texts("inputs", "", "Files the step reads: paths, folders or patterns.", func(c *Cache, v []Text) { c.Inputs = v }),
		keytable.Texts("outputs", "", "Files the step creates, which are stored and restored: paths, folders or patterns, below the working directory.", func(c *Cache, v []Text) { c.Outputs = v }),
		keytable.Texts("env", "", "Inherited environment variables that the step depends on.", func(c *Cache, v []Text) { c.Env = v }),
		keytable.Text("key", "", "Any other text the step depends on, such as a version.", func(c *Cache, v Text) { c.Key = &v }),
		keytable.Duration("ttl", "", "How long a stored result may be used. Default: forever.", func(c *Cache, v time.Duration) { c.TTL = v }),
	}
}).WithCheck(checkCache)

var artifactObject = keytable.NewObject("an artifact", "A file, a folder or the files of a pattern, which are kept with the run.", func() []keytable.Field {
	return []keytable.Field{
		keytable.Text("path", "", "The files, below the working directory: a path, a folder or a pattern such as dist/**.", func(a *Artifact, v Text) { a.Path = &v }),
		keytable.Text("name", "", "Name of the artifact, as in {build.artifacts.report}. Default: the last part of the path that is not a pattern, without extension.", func(a *Artifact, v Text) { a.Name, a.NamePos = v.S, v.Pos }),
		keytable.Choice("when", "", artifactOutcomes, "Whether the artifact is kept if the step succeeded, if it failed, or always.", func(a *Artifact, v string) { a.When = v }).WithDefault("success"),
		keytable.Boolean("required", "", "Whether the step fails if no file matches.", func(a *Artifact, v bool) { a.Optional = !v }).WithDefault("true"),
		keytable.Duration("retention", "", "How long the artifact is kept, such as 30d. Default: as long as the run.", func(a *Artifact, v time.Duration) { a.Retention = &v }),
	}
}).WithCheck(checkArtifact)

var scheduleObject = keytable.NewObject("a schedule", "When flowrun serve starts the tool, and with which parameters.", func() []keytable.Field {
	return []keytable.Field{
		keytable.Text("cron", "", "Cron expression, such as 0 7 * * 1-5. Use either cron or every.", func(s *Schedule, v Text) { s.Cron = &v }),
		withPos(keytable.Duration("every", "", "Interval between scheduled times, at least 1s. Use either cron or every.", func(s *Schedule, v time.Duration) { s.Every = v }),
			func(s *Schedule) *Pos { return &s.EveryPos }),
		keytable.Text("name", "", "Name of the schedule. Default: the name of the tool, with #2, #3 and so on for further schedules.", func(s *Schedule, v Text) { s.Name = &v }),
		keytable.Text("timezone", "", "Time zone of cron, start and end, such as Europe/Zurich. Default: that of the machine.", func(s *Schedule, v Text) { s.Timezone = &v }),
		keytable.ValueMap("params", "", "Parameters of the runs. {schedule.time} in a text is replaced by the scheduled time, {schedule.date} by its date.", func(s *Schedule, v []Entry) { s.Params = v }),
		labelsField("Labels of the runs, beside those of the tool; for a name that both have, this value counts.",
			func(s *Schedule) *map[string]string { return &s.Labels }),
		keytable.Choice("overlap", "", overlaps, "What to do at a scheduled time while a run of the schedule is still active.", func(s *Schedule, v string) { s.Overlap = v }).WithDefault("skip"),
		catchUp(),
		keytable.Duration("jitter", "", "Delays each start by a random time up to this one.", func(s *Schedule, v time.Duration) { s.Jitter = v }),
		keytable.Text("start", "", "Start of the schedule: a date, or a time such as 2026-12-01T08:00:00Z. The interval in every counts from it.", func(s *Schedule, v Text) { s.Start = &v }),
		keytable.Text("end", "", "End of the schedule. Nothing starts at this time or later.", func(s *Schedule, v Text) { s.End = &v }),
		keytable.Text("must-end-by", "", "Until when a run must have succeeded: a time of day such as 06:00, the next one after the scheduled time, or a duration such as 45m. A late run is reported, and continues.", func(s *Schedule, v Text) { s.MustEndBy = &v }),
		keytable.Integer("pause-after", "", 1, 100, "Number of failed runs in a row after which the schedule is paused. Default: it is not.", func(s *Schedule, v int) { s.PauseAfter = v }),
		keytable.Mixed("except", "", exceptObject, "Days without scheduled times, in the time zone of the schedule: dates such as 2026-12-25, ranges such as 2026-12-24..2026-12-31, and files.",
			func(s *Schedule) *Except { return addPointer(&s.Except, &Except{}) }, func(e *Except, v Text) { e.Days, e.Pos = &v, v.Pos }),
		keytable.Boolean("skip-if-successful", "", "Skips a scheduled time if the tool has already succeeded since the previous one.", func(s *Schedule, v bool) { s.SkipIfSuccessful = v }).WithDefault("false"),
	}
}).WithCheck(checkSchedule).WithOneOf("cron", "every")

var exceptObject = keytable.NewObject("except", "A file with days without scheduled times.", func() []keytable.Field {
	return []keytable.Field{
		keytable.Text("file", "", "Path of a file with a date or a range of dates on each line; # starts a comment. A relative path starts at the folder of the project.", func(e *Except, v Text) { e.File = &v }).AsRequired(),
	}
}).WithCheck(checkExcept)

var catchUpObject = keytable.NewObject("catch-up", "What to do about scheduled times that were missed, for example because no service was running.", func() []keytable.Field {
	return []keytable.Field{
		keytable.Choice("mode", "", catchUps, "Number of runs to start: none, one for all missed times (once), or one for each missed time (all).", func(c *CatchUp, v string) { c.Mode = v }).WithDefault("once"),
		keytable.Duration("window", "", "How late a missed run may still start. Default: no limit.", func(c *CatchUp, v time.Duration) { c.Window = v }),
		keytable.Integer("max", "", 1, 100, "Maximum number of runs that mode all starts, for the newest missed times.", func(c *CatchUp, n int) { c.Max = n }).WithDefault("100"),
	}
})

// catchUp returns the field catch-up of a schedule.
func catchUp() keytable.Field {
	f := keytable.Nested("catch-up", "", catchUpObject, "What to do about scheduled times that were missed: a mode, or a mapping with limits.", func(s *Schedule) *CatchUp { return &s.CatchUp })
	return modeOrMapping(f, func(s *Schedule, mode string) { s.CatchUp.Mode = mode })
}

// modeOrMapping returns the field of a mapping that may also be written as a mode alone.
func modeOrMapping[T any](f keytable.Field, set func(*T, string)) keytable.Field {
	f.Kind, f.Enum = keytable.KindChoiceOrObject, catchUps
	full := f.Set
	f.Set = func(d *keytable.Decoder, into any, n *yaml.Node) {
		if n = keytable.Deref(n); n.Kind == yaml.MappingNode && !keytable.IsPlaceholder(n) {
			full(d, into, n)
		} else if word, ok := keytable.OneOf(catchUps)(d, n); ok {
			set(into.(*T), word)
		}
	}
	return f
}

var outputObject = keytable.NewObject("output", "How the output of a step is captured.", func() []keytable.Field {
	return []keytable.Field{
		keytable.Choice("mode", "S1-043", []string{"buffer", "stream"}, "Whether output is shown while the step runs (stream) or after it ends (buffer).", func(o *Output, v string) { o.Mode = v }).WithDefault("buffer"),
		keytable.Size("buffer-limit", "S1-044", "How much of the output references and JSON documents can contain.", func(o *Output, v int64) { o.BufferLimit = v }).WithDefault("10MB"),
		keytable.Boolean("truncation", "S1-045", "Whether output over buffer-limit is cut. If false, the step fails instead.", func(o *Output, v bool) { o.Truncation = &v }).WithDefault("true"),
		streamCallbackField(),
		keytable.Text("file", "S1-086", "File for streamed output, with stream-callback: file. Default: the log file of the step.", func(o *Output, v Text) { o.File = &v }),
		keytable.Texts("masked-values", "S1-047", "Values to replace with *** wherever output is stored.", func(o *Output, v []Text) { o.MaskedValues = v }),
	}
})

var environmentObject = keytable.NewObject("environment", "Environment variables.", func() []keytable.Field {
	return []keytable.Field{
		keytable.TextMap("variables", "S1-170", "Variables by name. Placeholders in the values are replaced.", func(e *Environment, v []Entry) { e.Variables = v }),
		keytable.Boolean("inherit", "S1-171", "Whether steps inherit the variables of the flowrun process.", func(e *Environment, v bool) { e.Inherit = &v }).WithDefault("true"),
		keytable.Mixed("secrets", "S1-172", secretObject, "Names of variables or parameters whose values are masked, or mappings for variables whose values are fetched.",
			func(e *Environment) *Secret { return add(&e.Secrets, Secret{}) }, func(s *Secret, v Text) { s.Name = v }),
	}
}).WithCheck(checkEnvironment)

var secretObject = keytable.NewObject("a secret", "An environment variable whose value is fetched when the run begins, and masked.", func() []keytable.Field {
	return []keytable.Field{
		keytable.Text("name", "S1-174", "Name of the variable.", func(s *Secret, v Text) { s.Name = v }).AsRequired(),
		keytable.Text("env", "S1-174", "Variable of an env file or of the flowrun process that contains the value.", func(s *Secret, v Text) { s.Env = &v }),
		keytable.Text("file", "S1-174", "File that contains the value. One newline at its end is removed.", func(s *Secret, v Text) { s.File = &v }),
		keytable.Text("command", "S1-174", "Program that prints the value, and its arguments. It starts without a shell.", func(s *Secret, v Text) { s.Command = &v }),
	}
}).WithCheck(checkSecret).WithOneOf("env", "file", "command")

var envFileObject = keytable.NewObject("an env file", "A file of environment variables.", func() []keytable.Field {
	return []keytable.Field{
		keytable.Text("path", "", "Path of the file.", func(f *EnvFile, v Text) { f.Path = v }).AsRequired(),
		keytable.Boolean("optional", "", "Whether the file may be missing.", func(f *EnvFile, v bool) { f.Optional = v }).WithDefault("false"),
	}
}).WithCheck(checkEnvFile)

var filePathsObject = keytable.NewObject("file-paths", "How paths in parameters are rewritten, and where temporary files are created.", func() []keytable.Field {
	return []keytable.Field{
		keytable.Boolean("normalize", "S1-180", "Cleans up the values of parameters with path: true: a//b/../c becomes a/c, and ~ becomes your home directory.", func(f *FilePaths, v bool) { f.Normalize = v }).WithDefault("false"),
		keytable.Text("working-directory", "S1-181", "Working directory of the steps, if the tool has no working-directory.", func(f *FilePaths, v Text) { f.WorkingDirectory = &v }),
		keytable.Text("temp-directory", "S1-182", "Where the temporary directory of the run is created. It is removed when the run has succeeded.", func(f *FilePaths, v Text) { f.TempDirectory = &v }),
		keytable.Nested("cross-platform", "S1-183", crossPlatformObject, "Conversion of path separators.", func(f *FilePaths) *FilePaths { return f }),
	}
}).WithCheck(func(d *keytable.Decoder, into any, n *yaml.Node, _ []*yaml.Node) { into.(*FilePaths).Pos = d.Pos(n) })

var crossPlatformObject = keytable.NewObject("cross-platform", "Conversion of path separators.", func() []keytable.Field {
	return []keytable.Field{
		keytable.Choice("windows-separator", "S1-183", separators, "Separator on Windows.", func(f *FilePaths, v string) { f.WindowsSeparator = v }).WithDefault(`\`),
		keytable.Choice("unix-separator", "S1-184", separators, "Separator on other platforms.", func(f *FilePaths, v string) { f.UnixSeparator = v }).WithDefault("/"),
		keytable.Boolean("auto-convert", "S1-185", "Replaces / and \\ in the values of parameters with path: true with the separator of the platform.", func(f *FilePaths, v bool) { f.AutoConvert = v }).WithDefault("false"),
	}
})

var resourcesObject = keytable.NewObject("resources", "Limits of what steps may use, and cleanup after the run.", func() []keytable.Field {
	return []keytable.Field{
		keytable.Duration("timeout", "S1-191", "Time limit of the whole run. If the tool also has timeout, the smaller one applies.", func(t *Draft, v time.Duration) { t.resTimeout = &v }),
		keytable.Size("max-memory", "S1-193", "Memory limit of each step. See isolation.md.", func(t *Draft, v int64) { t.Resources.MaxMemory = v }),
		keytable.Integer("max-processes", "", 1, 1<<22, "Limit of the processes and threads of each step.", func(t *Draft, v int) { t.Resources.MaxProcesses = v }),
		keytable.Duration("max-cpu", "", "Limit of the CPU time of each step.", func(t *Draft, v time.Duration) { t.Resources.MaxCPU = v }),
		keytable.Amount("cpu", "", 0.01, "How many processors each step may use: 0.5 is half of the time of one.", func(t *Draft, v float64) { t.Resources.CPU = v }),
		keytable.Size("max-file-size", "", "Limit of the size of each file that a step writes.", func(t *Draft, v int64) { t.Resources.MaxFileSize = v }),
		keytable.Integer("max-open-files", "", 8, 1<<20, "Limit of the open files of each process of a step.", func(t *Draft, v int) { t.Resources.MaxOpenFiles = v }),
		keytable.Size("max-output", "", "Limit of what each step prints. A step that prints more is stopped.", func(t *Draft, v int64) { t.Resources.MaxOutput = v }),
		keytable.List("cleanup", "S1-194", cleanupObject, "What to clean up after the run, whether it succeeded or not.", func(t *Draft, _ Pos) *Resources { return &t.Resources }),
	}
})

var cleanupObject = keytable.NewObject("cleanup", "A cleanup action after the run.", func() []keytable.Field {
	return []keytable.Field{
		keytable.Boolean("delete-temp-files", "S1-194", "Removes the temporary directory when the run ends, also if it failed.", func(r *Resources, v bool) { r.DeleteTempFiles = v }),
		keytable.Text("final-command", "S1-194", "Command that runs after the run.", func(r *Resources, v Text) { r.FinalCommands = append(r.FinalCommands, v) }).AsCommand(),
	}
})

var securityObject = keytable.NewObject("security", "Privileges, isolation and permissions of the tool.", func() []keytable.Field {
	return []keytable.Field{
		keytable.Choice("execution-privilege", "S1-210", []string{"same-as-user", "reduced", "elevated"}, "Rights of the steps. See isolation.md.", func(s *Security, v string) { s.ExecutionPrivilege = v }).WithDefault("same-as-user"),
		withPos(keytable.Choice("isolation", "S1-211", []string{"none", "process", "container"}, "How the steps are separated from the system. See isolation.md.", func(s *Security, v string) { s.Isolation = v }).WithDefault("process"),
			func(s *Security) *Pos { return &s.IsolationPos }),
		imageField(),
		keytable.Texts("required-permissions", "S1-212", "Permissions that the tool needs, such as network:external:HOST. flowrun shows them when it asks for approval. A container has network access only with a network permission.", func(s *Security, v []Text) { s.RequiredPermissions = v }),
		withPos(keytable.Boolean("enforce", "", "Denies the steps everything that required-permissions does not list. Calls from models always do. See isolation.md.", func(s *Security, v bool) { s.Enforce = v }).WithDefault("false"),
			func(s *Security) *Pos { return &s.EnforcePos }),
		keytable.String("justification", "S1-213", "Why the tool needs these rights and permissions.", func(s *Security, v string) { s.Justification = v }),
	}
})

var metadataObject = keytable.NewObject("metadata", "Category and search terms of the tool.", func() []keytable.Field {
	return []keytable.Field{
		keytable.String("category", "S1-220", "Category.", func(m *Metadata, v string) { m.Category = v }),
		keytable.String("subcategory", "S1-221", "Subcategory.", func(m *Metadata, v string) { m.Subcategory = v }),
		keytable.Strings("tags", "S1-222", "Tags for searching. They have no effect on approvals.", func(m *Metadata, v []string) { m.Tags = v }),
		keytable.Strings("search-keywords", "S1-223", "Further search terms.", func(m *Metadata, v []string) { m.SearchKeywords = v }),
	}
})

var interactiveObject = keytable.NewObject("interactive-options", "Input of an interactive step.", func() []keytable.Field {
	return []keytable.Field{
		keytable.Duration("timeout", "S1-202", "How long to wait for input.", func(i *InteractiveOptions, v time.Duration) { i.Timeout = v }),
		keytable.Text("default-response", "S1-203", "Response that flowrun types if there is no input in time.", func(i *InteractiveOptions, v Text) { i.DefaultResponse = &v }),
	}
})

var functionCallingObject = keytable.NewObject("function-calling", "How the tool is described to models.", func() []keytable.Field {
	return []keytable.Field{
		keytable.Nested("schema-generation", "S1-230", schemaObject, "Contents of the schema of the parameters.", func(f *FunctionCalling) *FunctionCalling { return f }),
	}
})

var schemaObject = keytable.NewObject("schema-generation", "Contents of the schema of the parameters.", func() []keytable.Field {
	return []keytable.Field{
		keytable.Nested("parameter-mapping", "S1-230", mappingObject, "Types of JSON Schema to use for types of parameters.", func(f *FunctionCalling) *FunctionCalling { return f }),
		keytable.Boolean("include-descriptions", "S1-231", "Includes the descriptions of parameters.", func(f *FunctionCalling, v bool) { f.IncludeDescriptions = &v }).WithDefault("true"),
		keytable.Boolean("include-defaults", "S1-232", "Includes the default values of parameters.", func(f *FunctionCalling, v bool) { f.IncludeDefaults = &v }).WithDefault("true"),
		keytable.Boolean("example-generation", "S1-233", "Includes the examples of parameters.", func(f *FunctionCalling, v bool) { f.ExampleGeneration = &v }).WithDefault("false"),
		keytable.Boolean("sanitize-schemas", "S1-234", "Uses only names and schema features that every model provider accepts.", func(f *FunctionCalling, v bool) { f.SanitizeSchemas = &v }).WithDefault("true"),
	}
})

var mappingObject = keytable.NewObject("parameter-mapping", "Types of JSON Schema to use for types of parameters.", func() []keytable.Field {
	return []keytable.Field{
		mapped("string"), mapped("number"), mapped("boolean"), mapped("array"), mapped("object"),
	}
})

// mapped returns the field for the JSON Schema type that a parameter type is shown as.
func mapped(typ string) keytable.Field {
	return keytable.Choice(typ, "S1-230", jsonTypes, "Type of JSON Schema for the parameter type "+typ+".", func(f *FunctionCalling, v string) {
		if f.ParameterMapping == nil {
			f.ParameterMapping = map[string]string{}
		}
		f.ParameterMapping[typ] = v
	}).WithDefault(typ)
}

var notifyObject = keytable.NewObject("a notification", "A command, a webhook or an e-mail for when runs end.", func() []keytable.Field {
	return []keytable.Field{
		keytable.Choices("on", "", notifyrule.Events(), "Events to report. Default: failure, recovery, waiting, attention, late and paused.", func(n *Notify, v []string) { n.On = v }),
		keytable.Text("command", "", "Program and its arguments, started without a shell. Its standard input is the run as JSON.", func(n *Notify, v Text) { n.Command = &v }).AsBody(),
		keytable.Text("webhook", "", "URL that gets a POST request with the run as JSON. ${NAME} in it is an environment variable.", func(n *Notify, v Text) { n.Webhook = &v }).AsBody(),
		keytable.Nested("email", "", emailObject, "E-mail that is sent through the server in the settings (smtp).", func(n *Notify) *Email {
			if n.Email == nil {
				n.Email = &Email{}
			}
			return n.Email
		}).AsBody(),
		keytable.Choice("format", "", notifyrule.Formats(), "Form of the webhook's request: the run as JSON, or a message for Slack and programs that accept the same.", func(n *Notify, v string) { n.Format = v }).WithDefault("flowrun"),
		keytable.Text("message", "", "The message. {run.status} and other fields of the run are replaced. See notifications.md.", func(n *Notify, v Text) { n.Message = &v }),
		keytable.Duration("digest", "", "Sends at most one message in this time, about all runs since the last one. Not for commands.", func(n *Notify, v time.Duration) { n.Digest = v }),
		keytable.Text("secret-env", "", "Environment variable that contains the secret for signing requests.", func(n *Notify, v Text) { n.SecretEnv = &v }),
		keytable.Text("secret-file", "", "File that contains the secret for signing requests.", func(n *Notify, v Text) { n.SecretFile = &v }),
	}
}).WithCheck(checkNotify)

var emailObject = keytable.NewObject("an e-mail", "Receivers and subject of an e-mail.", func() []keytable.Field {
	return []keytable.Field{
		keytable.Texts("to", "", "Addresses of the receivers.", func(e *Email, v []Text) { e.To = v }).AsRequired(),
		keytable.Text("from", "", "Address of the sender. Default: smtp.from in the settings.", func(e *Email, v Text) { e.From = &v }),
		keytable.Text("subject", "", "Subject, with {run.NAME} as in message. Default: flowrun: {run.summary}.", func(e *Email, v Text) { e.Subject = &v }),
	}
})

var changeObject = keytable.NewObject("a change", "Changes in one version.", func() []keytable.Field {
	return []keytable.Field{
		keytable.Text("version", "S1-014", "The version.", func(c *Change, v Text) { c.Version, c.Pos = v.S, v.Pos }),
		keytable.String("changes", "S1-014", "What changed.", func(c *Change, v string) { c.Changes = v }),
	}
})

// ParameterDraft is a Parameter that is being decoded. It is a type of its own so that a parameter's security section
// cannot be mistaken for the tool's.
type ParameterDraft struct{ *Parameter }

var parameterObject = keytable.NewObject("a parameter", "A parameter of the tool.", func() []keytable.Field {
	return []keytable.Field{
		keytable.Choice("type", "S1-091", typeNames, "Type of the value.", func(p *ParameterDraft, v string) { p.Type = v }).WithDefault("string"),
		keytable.String("description", "S1-092", "What the parameter is for. validate warns without it.", func(p *ParameterDraft, v string) { p.Description = v }),
		keytable.Boolean("required", "S1-093", "Whether a value is required. A default counts as a value.", func(p *ParameterDraft, v bool) { p.Required = v }).WithDefault("false"),
		keytable.AnyValue("default", "S1-094", "Value if the caller passes none. It may refer to other parameters.", func(p *ParameterDraft, v Value) { p.Default = &v }),
		keytable.Nested("validation", "S1-095", validationObject, "Rules for the value.", func(p *ParameterDraft) *Validation { return &p.Validation }),
		keytable.Text("transform", "S1-101", "Changes the value before it is used: predefined transforms, or a JavaScript expression with value.", func(p *ParameterDraft, v Text) { p.Transform = &v }),
		keytable.Text("format", "S1-102", "How the value is written into a command, such as --count={value}.", func(p *ParameterDraft, v Text) { p.Format = &v }),
		keytable.Text("delimiter", "S1-133", "Separator that joins the elements of an array into one word, also outside quotes. Without it, only quotes join them, with a space.", func(p *ParameterDraft, v Text) { p.Delimiter = &v }).WithDefault(" "),
		keytable.AnyValues("examples", "S1-103", "Example values.", func(p *ParameterDraft, v []Value) { p.Examples = v }),
		keytable.String("detailed-help", "S1-104", "A longer description.", func(p *ParameterDraft, v string) { p.DetailedHelp = v }),
		keytable.Nested("security", "S1-105", parameterSecurityObject, "How the value is inserted into shell commands.", func(p *ParameterDraft) *ParameterDraft { return p }),
		keytable.Boolean("allow-dash", "", "Allows values that begin with '-', even where a program may read them as an option.", func(p *ParameterDraft, v bool) { p.AllowDash = v }).WithDefault("false"),
		keytable.Boolean("path", "S1-180", "Whether the value, or each element of an array, is a path. file-paths rewrites only paths.", func(p *ParameterDraft, v bool) { p.Path = v }).WithDefault("false"),
		keytable.Boolean("deprecated", "S1-017", "Whether the parameter is deprecated. Using it then prints a warning.", func(p *ParameterDraft, v bool) { p.Deprecated = v }).WithDefault("false"),
		keytable.Text("deprecated-alternative", "S1-018", "The parameter to use instead.", func(p *ParameterDraft, v Text) { p.DeprecatedAlternative = v }),
	}
}).WithCheck(CheckParameter).WithHint("secret", SecretHint).WithHint("sensitive", SecretHint)

// SecretHint is the hint for a key that would make a parameter secret.
func SecretHint(*yaml.Node) string {
	return "to mask the value, add the name of the parameter to environment.secrets; to keep the value off the command line, write NAME=@file"
}

var parameterSecurityObject = keytable.NewObject("a parameter's security", "How the value is inserted into shell commands.", func() []keytable.Field {
	return []keytable.Field{
		keytable.Boolean("escape-shell", "S1-105", "Whether the value is quoted for the shell. If false, the shell runs it as code.", func(p *ParameterDraft, v bool) { p.EscapeShell = &v }).WithDefault("true"),
	}
})

var validationObject = keytable.NewObject("validation", "Rules for the value of a parameter.", func() []keytable.Field {
	return []keytable.Field{
		keytable.Integer("minLength", "S1-095", 0, 1<<31-1, "Minimum number of characters.", func(v *Validation, n int) { v.MinLength = &n }),
		keytable.Integer("maxLength", "S1-096", 0, 1<<31-1, "Maximum number of characters.", func(v *Validation, n int) { v.MaxLength = &n }),
		keytable.Text("pattern", "S1-097", "Regular expression (RE2) that must match a part of the text.", func(v *Validation, t Text) { v.Pattern = &t }),
		keytable.Number("minimum", "S1-098", "Minimum of a number.", func(v *Validation, n float64) { v.Minimum = &n }),
		keytable.Number("maximum", "S1-099", "Maximum of a number.", func(v *Validation, n float64) { v.Maximum = &n }),
		keytable.AnyValues("enum", "S1-100", "The allowed values.", func(v *Validation, all []Value) { v.Enum = all }),
	}
})

var testObject = keytable.NewObject("a test", "A test of the tool.", func() []keytable.Field {
	return []keytable.Field{
		keytable.Text("name", "S1-240", "Name of the test. It must be unique in the tool.", func(t *Test, v Text) { t.Name, t.Pos = v.S, v.Pos }).AsRequired(),
		keytable.String("description", "S1-241", "What the test checks.", func(t *Test, v string) { t.Description = v }),
		keytable.ValueMap("parameters", "S1-242", "Parameters of the run.", func(t *Test, v []Entry) { t.Parameters = v }),
		keytable.TextMap("environment", "", "Environment variables of the run, by name, over those of the flowrun process. Also secrets and {env.NAME} read them.", func(t *Test, v []Entry) { t.Environment = v }),
		keytable.Choices("platforms", "S1-249", platformNames, "Platforms that the test runs on. Default: all.", func(t *Test, v []string) { t.Platforms = v }),
		keytable.Texts("files", "", "Files and folders to copy into the folder of the test. Paths are relative to the definition.", func(t *Test, v []Text) { t.Files = v }),
		keytable.Nested("expected", "S1-243", expectedObject, "Expectations about the run.", func(t *Test) *Expected { return &t.Expected }),
		keytable.Texts("cleanup", "S1-248", "Commands that run after the test.", func(t *Test, v []Text) { t.Cleanup = v }).AsCommand(),
	}
}).WithCheck(checkTest)

var expectedObject = keytable.NewObject("expected", "Expectations about the run of a test.", func() []keytable.Field {
	return []keytable.Field{
		keytable.Integer("exit-code", "S1-243", 0, 255, "Exit code of the run.", func(e *Expected, v int) { e.ExitCode = &v }),
		keytable.Texts("output-contains", "S1-244", "Texts that the output must all contain.", func(e *Expected, v []Text) { e.OutputContains = v }),
		keytable.Texts("output-contains-any", "S1-245", "Texts of which the output must contain at least one.", func(e *Expected, v []Text) { e.OutputContainsAny = v }),
		keytable.Text("output-equals", "", "The whole output, without one newline at its end.", func(e *Expected, v Text) { e.OutputEquals = &v }),
		keytable.Text("output-matches", "", "Regular expression (RE2) that must match a part of the output.", func(e *Expected, v Text) { e.OutputMatches = &v }),
		keytable.Texts("stderr-contains", "", "Texts that the standard error of the steps must all contain.", func(e *Expected, v []Text) { e.StderrContains = v }),
		keytable.Texts("file-exists", "S1-246", "Files that must exist.", func(e *Expected, v []Text) { e.FileExists = v }),
		keytable.Texts("directory-exists", "S1-247", "Folders that must exist.", func(e *Expected, v []Text) { e.DirectoryExists = v }),
		keytable.ValueMap("outputs", "", "Expected values of declared outputs of the run.", func(e *Expected, v []Entry) { e.Outputs = v }),
		keytable.TextMap("steps", "", "Expected states of steps, by the names or paths of the steps.", func(e *Expected, v []Entry) { e.Steps = v }),
	}
}).WithCheck(checkExpected).WithHint("output", func(*yaml.Node) string { return `write "output-equals" or "output-contains"` })

// add appends v to a list and returns a pointer to it. The pointer is valid until the next append.
func add[V any](to *[]V, v V) *V {
	*to = append(*to, v)
	return &(*to)[len(*to)-1]
}

func addPointer[V any](to *[]*V, v *V) *V {
	*to = append(*to, v)
	return v
}

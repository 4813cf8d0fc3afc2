package tool

import (
	"fmt"
	"regexp"
	"sync"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/diagnostic"
	"github.com/flowrun/flowrun/internal/keytable"
)

// This file is the table of keys: every key of a definition file, its values,
// its meaning, its id in docs/requirements.md if it has one, and where its
// value goes. The decoder walks it; the JSON Schema and the reference page are
// made from it. A key that is not here does not exist.

// Keys is the object at the top of a definition file. Everything else a file
// may hold is found from it through Field.Of. It is not to be changed.
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

// draft is a Definition being read, with what only matters until it is whole.
type draft struct {
	*Definition
	single     Step           // the command of a tool without steps
	namePos    Pos            // of name, where written
	timeout    *time.Duration // timeout and resources.timeout: the smaller one counts
	resTimeout *time.Duration
}

var toolObject = keytable.NewObject("a tool", "One tool: what it is called, what it runs and what it takes.",
	append(bodyFields(func(t *draft) *Step { return &t.single }),
		keytable.Text("name", "S1-010", "Name of the tool; the file's name without extension where absent.", func(t *draft, v Text) { t.Name, t.namePos = v.S, v.Pos }),
		keytable.Words("description", "S1-011", "What the tool does, for people and models.", func(t *draft, v string) { t.Description = v }).AsRequired(),
		keytable.Words("version", "S1-012", "Version of the tool, semantic versioning.", func(t *draft, v string) { t.Version = v }),
		keytable.Text("min-cycod-version", "S1-013", "Lowest compatibility level the tool needs.", func(t *draft, v Text) { t.MinVersion = &v }),
		keytable.Text("min-flowrun-version", "S1-013", "Lowest version of flowrun that can run the tool.", func(t *draft, v Text) { t.MinFlowrun = &v }),
		keytable.List("changelog", "S1-014", changeObject, "What changed in each version.", func(t *draft, p Pos) *Change { return add(&t.Changelog, Change{Pos: p}) }),
		keytable.Mixed("schedule", "", scheduleObject, "When the service runs the tool by itself: cron expressions, or mappings with more to say; see schedules.md.",
			func(t *draft) *Schedule { return addPointer(&t.Schedules, &Schedule{}) }, func(s *Schedule, v Text) { s.Cron, s.Pos = &v, v.Pos }),
		keytable.Boolean("deprecated", "S1-015", "Whether the tool should no longer be used.", func(t *draft, v bool) { t.Deprecated = v }).WithDefault("false"),
		keytable.Words("deprecated-message", "S1-016", "What to use instead.", func(t *draft, v string) { t.DeprecatedMessage = v }),

		keytable.Choice("type", "S1-165", []string{"alias"}, "Makes the tool an alias of another one.", func(t *draft, _ string) { t.Alias = true }),
		keytable.Text("base-tool", "S1-166", "The tool an alias stands for.", func(t *draft, v Text) { t.BaseTool = v }),
		keytable.ValueMap("default-parameters", "S1-167", "Values an alias gives to parameters of its base tool.", func(t *draft, v []Entry) { t.DefaultParameters = v }),

		stepsField(),
		handler("on-success", "Steps that run once all others have ended well.", func(t *draft) *[]*Step { return &t.Handlers.OnSuccess }),
		handler("on-failure", "Steps that run once the others have ended and one of them has failed.", func(t *draft) *[]*Step { return &t.Handlers.OnFailure }),
		handler("finally", "Steps that run last, however the others ended.", func(t *draft) *[]*Step { return &t.Handlers.Finally }),
		keytable.Named("parameters", "S1-090", parameterObject, "What the tool takes, by name.", func(t *draft, name string, p Pos) *parameterDraft {
			return &parameterDraft{addPointer(&t.Parameters, &Parameter{Name: name, Pos: p, Type: "string"})}
		}),
		environment("environment", func(t *draft) *Environment { return &t.Environment }),
		envFiles(func(t *draft) *[]EnvFile { return &t.EnvFiles }),
		keytable.Text("working-directory", "S1-186", "Directory the steps run in.", func(t *draft, v Text) { t.WorkingDirectory = &v }),
		keytable.Nested("file-paths", "S1-180", filePathsObject, "How paths are written and where temporary files go.", func(t *draft) *FilePaths { return &t.FilePaths }),
		keytable.Duration("timeout", "S1-190", "Bound on the whole run.", func(t *draft, v time.Duration) { t.timeout = &v }),
		keytable.Choices("platforms", "S1-225", platformNames, "Where the tool runs; everywhere where absent.", func(t *draft, v []string) { t.Platforms = v }),
		keytable.WordList("tags", "S1-224", "Categories; read, write and run say what the tool may do.", func(t *draft, v []string) { t.Tags = v }),
		keytable.Boolean("ignore-errors", "S1-070", "Counts every step as continue-on-error.", func(t *draft, v bool) { t.IgnoreErrors = v }).WithDefault("false"),
		keytable.Boolean("fail-fast", "S1-067", "Cancels what still runs at the first failure.", func(t *draft, v bool) { t.FailFast = v }).WithDefault("false"),
		keytable.Text("input", "S1-200", "Data on the standard input of the steps.", func(t *draft, v Text) { t.Input = &v }),
		keytable.Text("output", "S1-087", "The run's output, a template over step references.", func(t *draft, v Text) { t.Output = &v }),
		keytable.Nested("error-handling", "S1-078", errorHandlingObject, "Retry and fallback of every step without its own.", func(t *draft) *ErrorHandling { return &t.ErrorHandling }),
		keytable.Boolean("strict", "S1-077", "Stops shell scripts at the first failing command.", func(t *draft, v bool) { t.Strict = v }).WithDefault("false"),
		keytable.Boolean("interactive", "S1-201", "Whether a person answers questions of the tool.", func(t *draft, v bool) { t.Interactive = v }).WithDefault("false"),
		interactiveOptions("How long to wait for an answer and what to take without one.", func(t *draft) *InteractiveOptions { return &t.InteractiveOptions }),
		keytable.Integer("max-active-runs", "", 1, 1<<20, "How many runs of the tool may be under way at once; later ones stand in line.", func(t *draft, v int) { t.MaxActiveRuns = v }),
		locksField(),
		keytable.Choice("on-interrupt", "", interruptions, "What becomes of a step that ran when the engine died.", func(t *draft, v string) { t.OnInterrupt = v }),
		keytable.Boolean("idempotent", "", "Whether running a step twice does no harm.", func(t *draft, v bool) { t.Idempotent = v }).WithDefault("false"),
		keytable.Nested("resources", "S1-191", resourcesObject, "Limits and cleaning up.", func(t *draft) *draft { return t }),
		keytable.Nested("security", "S1-210", securityObject, "What the tool may do.", func(t *draft) *Security { return &t.Security }),
		keytable.Nested("metadata", "S1-220", metadataObject, "How the tool is found.", func(t *draft) *Metadata { return &t.Metadata }),
		keytable.Nested("function-calling", "S1-230", functionCallingObject, "How the tool is shown to models.", func(t *draft) *FunctionCalling { return &t.FunctionCalling }),
		keytable.List("notify", "", notifyObject, "Who is told how runs of the tool end.", func(t *draft, p Pos) *Notify { return add(&t.Notify, Notify{Pos: p}) }),
		keytable.List("tests", "S1-240", testObject, "Tests of the tool.", func(t *draft, p Pos) *Test { return add(&t.Tests, Test{Pos: p}) }),
	)...).Checked(checkTool)

var stepObject = keytable.NewObject("a step", "One step: a command, or the use of another tool.",
	append(bodyFields(func(s *Step) *Step { return s }),
		keytable.Text("name", "S1-030", "Name of the step, unique in the tool.", func(s *Step, v Text) { s.Name, s.Pos = v.S, v.Pos }).AsRequired(),
		keytable.Text("use-tool", "S1-040", "Another tool, by name or path.", func(s *Step, v Text) { bodyOf[ToolUse](s).Tool = v }).AsBody(),
		keytable.Nested("wait", "", waitObject, "Waits for a time, a file, an address or a port.", bodyOf[Wait]).AsBody(),
		textOr("approve", "", approveObject, "Asks a person whether the run goes on; a text is the question.", func(s *Step) *approveDraft {
			return &approveDraft{Approve: bodyOf[Approve](s)}
		}, func(a *approveDraft, v Text) { a.Pos, a.Prompt = v.Pos, v }).AsBody(),
		keytable.ValueMap("with", "S1-041", "Parameters of the other tool.", func(s *Step, v []Entry) {
			if _, ok := s.Body.(*ToolUse); ok || s.Body == nil {
				bodyOf[ToolUse](s).With = v
			}
		}),
		keytable.Boolean("continue-on-error", "S1-033", "Counts a failure of the step as settled well.", func(s *Step, v bool) { s.ContinueOnError = v }).WithDefault("false"),
		keytable.Text("run-condition", "S1-034", "Condition under which the step runs.", func(s *Step, v Text) { s.RunCondition = &v }),
		keytable.Boolean("parallel", "S1-035", "Starts the step together with the one before it.", func(s *Step, v bool) { s.Parallel = v }).WithDefault("false"),
		keytable.Texts("wait-for", "S1-036", "The steps to wait for, instead of all earlier ones.", func(s *Step, v []Text) { s.WaitFor, s.HasWaitFor = v, true }),
		keytable.Nested("error-handling", "S1-037", errorHandlingObject, "Retry and fallback.", func(s *Step) *ErrorHandling { return &s.ErrorHandling }),
		keytable.Duration("timeout", "S1-042", "Bound on each try.", func(s *Step, v time.Duration) { s.Timeout = v }),
		keytable.Nested("output", "S1-043", outputObject, "How output is captured.", func(s *Step) *Output { return &s.Output }),
		keytable.Text("input", "S1-200", "Data on the step's standard input.", func(s *Step, v Text) { s.Input = &v }),
		environment("environment", func(s *Step) *Environment { return &s.Environment }),
		envFiles(func(s *Step) *[]EnvFile { return &s.EnvFiles }),
		keytable.Text("working-directory", "S1-186", "Directory the step runs in.", func(s *Step, v Text) { s.WorkingDirectory = &v }),
		keytable.Boolean("strict", "S1-077", "Stops the shell script at the first failing command.", func(s *Step, v bool) { s.Strict = &v }),
		keytable.Boolean("interactive", "S1-201", "Whether a person answers questions of the step; the tool's where absent.", func(s *Step, v bool) { s.Interactive = &v }),
		interactiveOptions("How long to wait for an answer of the step and what to take without one; what is absent is the tool's.", func(s *Step) *InteractiveOptions { return &s.InteractiveOptions }),
		keytable.Boolean("detach", "", "Leaves background processes of the step running after the run.", func(s *Step, v bool) { s.Detach = v }).WithDefault("false"),
		keytable.Choice("on-interrupt", "", interruptions, "What becomes of the step if it ran when the engine died.", func(s *Step, v string) { s.OnInterrupt = v }),
		keytable.Boolean("idempotent", "", "Whether running the step twice does no harm.", func(s *Step, v bool) { s.Idempotent = &v }),
	)...).Checked(checkStep)

// A step holds steps: these fields make the table a circle, and so are added to it
// once it is there.
func init() {
	stepObject.Add(
		keytable.List("steps", "", stepObject, "A group of steps that run as one.", func(s *Step, p Pos) *Step {
			return addPointer(&bodyOf[StepGroup](s).Steps, &Step{Pos: p})
		}).AsBody(),
		forEach(),
		matrix(),
		handler("on-success", "Steps that run after this one when it succeeded.", func(s *Step) *[]*Step { return &s.Handlers.OnSuccess }),
		handler("on-failure", "Steps that run after this one when it failed.", func(s *Step) *[]*Step { return &s.Handlers.OnFailure }),
		handler("finally", "Steps that run after this one however it ended.", func(s *Step) *[]*Step { return &s.Handlers.Finally }),
	)
}

// bodyOf is the step's body of that type, a new one where it has none.
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

// loopFields are the keys that for-each and matrix share.
func loopFields() []keytable.Field {
	return []keytable.Field{
		keytable.Integer("max-parallel", "", 1, 1<<20, "How many items are under way at once; as many as steps may run where absent.", func(l *Loop, n int) { l.MaxParallel = n }),
		keytable.Integer("min-success", "", 1, 1<<20, "How many items must succeed; all where absent.", func(l *Loop, n int) { l.MinSuccess = n }),
		keytable.Boolean("fail-fast", "", "Cancels the rest once too many items have failed.", func(l *Loop, v bool) { l.FailFast = v }).WithDefault("false"),
	}
}

var forEachObject = keytable.NewObject("for-each", "What a step runs for, one item after another or several at once.",
	append([]keytable.Field{
		keytable.AnyValue("items", "", "A list, one reference to a list, to lines of text or to a JSON array, or an expression such as 1..5.", func(l *Loop, v Value) { l.Items = &v }).AsRequired(),
		keytable.Text("as", "", "Name of the item in the step.", func(l *Loop, v Text) { l.As = &v }).WithDefault("item"),
		keytable.Text("key", "", "What an item is called, a template over it; its number from 0 where absent.", func(l *Loop, v Text) { l.Key = &v }),
	}, loopFields()...)...).Checked(checkForEach)

var matrixObject = keytable.NewObject("matrix", "Names with lists of values: the step runs once for every combination.",
	append([]keytable.Field{
		keytable.AnyValues("include", "", "Combinations to add, or to complete with further values.", func(l *Loop, v []Value) { l.Include = v }),
		keytable.AnyValues("exclude", "", "Combinations to leave out; one value is enough to name them.", func(l *Loop, v []Value) { l.Exclude = v }),
	}, loopFields()...)...).Checked(checkMatrix)

// forEach is a section; a bare list has a hint of its own.
func forEach() keytable.Field {
	f := keytable.Nested("for-each", "", forEachObject, "Runs the step once for every item of a list.", func(s *Step) *Loop { return s.loop() })
	read := f.Set
	f.Set = func(d *keytable.Decoder, into any, n *yaml.Node) {
		if bare := keytable.Deref(n); bare.Kind == yaml.SequenceNode {
			d.Fail(n, "wrong-type", "expected a mapping of keys, found a list", "write for-each: {items: [a, b]}")
			return
		}
		read(d, into, n)
	}
	return f
}

// matrix is a section of its own keys and of names for lists of values.
func matrix() keytable.Field {
	f := keytable.Nested("matrix", "", matrixObject, "Runs the step once for every combination of values.", func(s *Step) *Loop { return s.loop() })
	f.Kind = keytable.KindMatrix
	f.Set = func(d *keytable.Decoder, into any, n *yaml.Node) {
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

// bodyFields are the kinds of command a step and a tool without steps share.
func bodyFields[T any](step func(*T) *Step) []keytable.Field {
	command := func(kind Kind, row, doc string) keytable.Field {
		return keytable.Text(string(kind), row, doc, func(t *T, v Text) { step(t).Body = &Command{kind, v} }).AsBody()
	}
	return []keytable.Field{
		command(Bash, "S1-020", "Script for bash."),
		command(Sh, "S1-020", "Script for sh."),
		command(Cmd, "S1-021", "Script for cmd on Windows."),
		command(Pwsh, "S1-022", "Script for PowerShell."),
		command(Run, "S1-023", "Program and arguments, started without a shell."),
		command(Python, "S1-029", "Script for Python."),
		command(Script, "S1-024", "Script for the program named by shell."),
		keytable.Text(string(JS), "", "JavaScript: the body of a function, whose result is the step's; see javascript.md.", func(t *T, v Text) {
			step(t).Body = &JSCode{Role: RoleStep, Code: v}
		}).AsBody(),
		keytable.Text("shell", "S1-025", "Program that reads script or commands.", func(t *T, v Text) { step(t).Shell = &v }).WithDefault("bash"),
		keytable.Nested("commands", "S1-026", commandsObject, "One command for each platform.", func(t *T) *Commands {
			c := &Commands{Platforms: map[string]Text{}}
			step(t).Body = c
			return c
		}).AsBody(),
		keytable.Nested("cache", "", cacheObject, "When the command need not run again, because nothing it depends on has changed.", func(t *T) *Cache {
			step(t).Cache = &Cache{}
			return step(t).Cache
		}),
	}
}

// stepsField is the list of steps, refused as a whole where it is too long to
// be meant.
func stepsField() keytable.Field {
	f := keytable.List("steps", "S1-030", stepObject, "The steps, in the order they run unless they say otherwise.", func(t *draft, p Pos) *Step {
		return addPointer(&t.Steps, &Step{Pos: p})
	}).AsBody()
	each := f.Set
	f.Set = func(d *keytable.Decoder, into any, n *yaml.Node) {
		if steps := keytable.Deref(n); len(steps.Content) > keytable.MaxSteps && steps.Kind == yaml.SequenceNode {
			d.Fail(steps, "too-many-steps", fmt.Sprintf("cannot read %d steps: a tool may have %d", len(steps.Content), keytable.MaxSteps), "split the tool and join the parts with use-tool")
			return
		}
		each(d, into, n)
	}
	return f
}

// environment is a section of variables, written in full or as {NAME: value}
// alone (S1-172).
func environment[T any](key string, part func(*T) *Environment) keytable.Field {
	f := keytable.Nested(key, "S1-170", environmentObject, "Environment variables.", part)
	f.Kind = keytable.KindEnvironment
	full := f.Set
	flat := keytable.TextMap(key, f.Row, f.Doc, func(into *T, v []Entry) { part(into).Variables = v }).Set
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
		variableNames(d, part(into.(*T)).Variables)
	}
	return f
}

// envFiles is a list of .env files.
func envFiles[T any](of func(*T) *[]EnvFile) keytable.Field {
	return keytable.Mixed("env-files", "", envFileObject, "Files of environment variables (.env); later ones win, and environment wins over all.",
		func(into *T) *EnvFile { return add(of(into), EnvFile{}) }, func(f *EnvFile, v Text) { f.Path = v })
}

// placed keeps the place of a key, for messages about it.
func placed[T any](f keytable.Field, pos func(*T) *Pos) keytable.Field {
	read := f.Set
	f.Set = func(d *keytable.Decoder, into any, n *yaml.Node) {
		*pos(into.(*T)) = d.Pos(n)
		read(d, into, n)
	}
	return f
}

// imageField is the name of a container image. One that begins with a dash would be
// an option of the program that starts the container.
func imageField() keytable.Field {
	f := keytable.Words("image", "S1-211", "Image of the container, with isolation: container.", func(s *Security, v string) { s.Image = v }).WithDefault(DefaultImage)
	read := f.Set
	f.Set = func(d *keytable.Decoder, into any, n *yaml.Node) {
		if v := keytable.Deref(n); v.Kind == yaml.ScalarNode && !imageName().MatchString(v.Value) {
			d.Fail(n, "bad-image", fmt.Sprintf("%s is no name of an image", diagnostic.Printable(v.Value)), `write it as registries have it: "docker.io/library/debian:12"`)
			return
		}
		read(d, into, n)
	}
	return placed(f, func(s *Security) *Pos { return &s.ImagePos })
}

// imageName is loosely what registries allow: [host[:port]/]path[:tag][@digest].
var imageName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@-]*$`) })

// interactiveOptions keeps the place of the key, for the message where it has no
// effect.
func interactiveOptions[T any](doc string, part func(*T) *InteractiveOptions) keytable.Field {
	f := keytable.Nested("interactive-options", "S1-202", interactiveObject, doc, part)
	read := f.Set
	f.Set = func(d *keytable.Decoder, into any, n *yaml.Node) {
		part(into.(*T)).Pos = d.Pos(n)
		read(d, into, n)
	}
	return f
}

// streamCallbackField keeps the place of the key, for the message where nobody calls
// a function.
func streamCallbackField() keytable.Field {
	f := keytable.Choice("stream-callback", "S1-046", []string{"console", "file", "function"}, "Where streamed output goes.", func(o *Output, v string) { o.StreamCallback = v }).WithDefault("console")
	read := f.Set
	f.Set = func(d *keytable.Decoder, into any, n *yaml.Node) {
		into.(*Output).StreamPos = d.Pos(n)
		read(d, into, n)
	}
	return f
}

var approveObject = keytable.NewObject("approve", "What a person is asked, and for how long.",
	keytable.Text("prompt", "", "The question.", func(a *approveDraft, v Text) { a.Prompt = v }).AsRequired(),
	keytable.ValueMap("form", "", "Values that the person gives: a JSON Schema (2020-12) of an object, with properties.", func(a *approveDraft, v []Entry) { a.form = v }),
	keytable.Duration("timeout", "", "How long to wait for an answer; for ever where absent.", func(a *approveDraft, v time.Duration) { a.Timeout = v }),
	keytable.Choice("on-timeout", "", []string{"approve", "reject", "fail"}, "What holds when nobody has answered in time; approve takes the defaults of the form.", func(a *approveDraft, v string) { a.OnTimeout = v }).WithDefault("fail"),
).Checked(checkApprove)

var waitObject = keytable.NewObject("wait", "What a step waits for: one of for, until, file, http and port.",
	keytable.Duration("for", "", "How long.", func(w *Wait, v time.Duration) { w.For = v }).AsBody(),
	keytable.Text("until", "", "Until when, RFC 3339: 2026-03-01T09:00:00Z.", func(w *Wait, v Text) { w.Until = &v }).AsBody(),
	keytable.Text("file", "", "Until there is a file or folder of that path; a relative one counts from the tool's working directory.", func(w *Wait, v Text) { w.File = &v }).AsBody(),
	keytable.Text("http", "", "Until that address answers well: GET, redirects followed, 200 to 299.", func(w *Wait, v Text) { w.HTTP = &v }).AsBody(),
	keytable.Text("port", "", "Until something takes connections there, HOST:PORT.", func(w *Wait, v Text) { w.Port = &v }).AsBody(),
	keytable.Integer("status", "", 100, 599, "The status that the address of http must answer, where another one is meant.", func(w *Wait, v int) { w.Status = v }),
	keytable.Duration("interval", "", "Time between two looks at a file, an address or a port; the first come more quickly.", func(w *Wait, v time.Duration) { w.Interval = v }).WithDefault("1000"),
).Checked(checkWait)

var commandsObject = keytable.NewObject("commands", "One command for each platform.",
	keytable.Text("default", "S1-026", "Command where no platform's own is given.", func(c *Commands, v Text) { c.Default = &v }),
	keytable.Nested("platforms", "S1-027", platformsObject, "Commands of single platforms.", func(c *Commands) *Commands { return c }),
).Checked(checkCommands)

var platformsObject = keytable.NewObject("platforms", "Commands by platform.",
	keytable.Text("windows", "S1-027", "Command on Windows.", func(c *Commands, v Text) { c.Platforms["windows"] = v }),
	keytable.Text("linux", "S1-027", "Command on Linux.", func(c *Commands, v Text) { c.Platforms["linux"] = v }),
	keytable.Text("macos", "S1-027", "Command on macOS.", func(c *Commands, v Text) { c.Platforms["macos"] = v }),
)

var errorHandlingObject = keytable.NewObject("error-handling", "What is done about a failure.",
	keytable.Nested("retry", "S1-037", retryObject, "Trying again.", func(e *ErrorHandling) *Retry {
		e.Retry = &Retry{Delay: time.Second, Backoff: "exponential", Jitter: "none"}
		return e.Retry
	}),
	keytable.Text("fallback", "S1-039", "Command that runs once after the last try failed.", func(e *ErrorHandling, v Text) { e.Fallback = &v }),
)

var retryObject = keytable.NewObject("retry", "How a failed step is tried again.",
	keytable.Integer("attempts", "S1-037", 0, 1000, "Retries after the first try.", func(r *Retry, v int) { r.Attempts = v }).AsRequired(),
	keytable.Duration("delay", "S1-038", "Wait before the first retry.", func(r *Retry, v time.Duration) { r.Delay = v }).WithDefault("1000"),
	keytable.Choice("backoff", "S1-073", []string{"exponential", "linear", "constant"}, "How the wait grows from retry to retry.", func(r *Retry, v string) { r.Backoff = v }).WithDefault("exponential"),
	keytable.Duration("max-delay", "S1-073", "Bound on the wait.", func(r *Retry, v time.Duration) { r.MaxDelay = v }),
	keytable.Choice("jitter", "S1-073", []string{"none", "full"}, "Whether the wait is drawn at random.", func(r *Retry, v string) { r.Jitter = v }).WithDefault("none"),
	keytable.Integers("exit-codes", "", 0, 255, "Exit codes that are retried; all where absent.", func(r *Retry, v []int) { r.ExitCodes = v }),
	keytable.Integers("not-exit-codes", "", 0, 255, "Exit codes that are never retried.", func(r *Retry, v []int) { r.NotExitCodes = v }),
	keytable.Text("when", "", "Condition over the last try under which it is retried.", func(r *Retry, v Text) { r.When = &v }),
).Checked(checkRetry)

var cacheObject = keytable.NewObject("cache", "What a step depends on and what it makes. Its command and the environment of the definition always count.",
	keytable.Texts("inputs", "", "Files the step reads: paths, folders or patterns.", func(c *Cache, v []Text) { c.Inputs = v }),
	keytable.Texts("outputs", "", "Files the step makes, kept and put back: paths, folders or patterns, below the working directory.", func(c *Cache, v []Text) { c.Outputs = v }),
	keytable.Texts("env", "", "Names of inherited environment variables that count.", func(c *Cache, v []Text) { c.Env = v }),
	keytable.Text("key", "", "A text that counts as well, such as a version.", func(c *Cache, v Text) { c.Key = &v }),
	keytable.Duration("ttl", "", "How long a result may be used; for ever where absent.", func(c *Cache, v time.Duration) { c.TTL = v }),
).Checked(checkCache)

var scheduleObject = keytable.NewObject("a schedule", "When the service runs the tool by itself, and what with.",
	keytable.Text("cron", "", "Cron expression, as in 0 7 * * 1-5; one of cron and every.", func(s *Schedule, v Text) { s.Cron = &v }),
	placed(keytable.Duration("every", "", "Time from one slot to the next, at least 1s; one of cron and every.", func(s *Schedule, v time.Duration) { s.Every = v }),
		func(s *Schedule) *Pos { return &s.EveryPos }),
	keytable.Text("name", "", "Name of the schedule; the tool's where absent, with #2, #3 and so on for further ones.", func(s *Schedule, v Text) { s.Name = &v }),
	keytable.Text("timezone", "", "Time zone that cron expressions, start and end are read in, as in Europe/Zurich; the machine's where absent.", func(s *Schedule, v Text) { s.Timezone = &v }),
	keytable.ValueMap("params", "", "Parameters of the runs. They are data: references are not looked for.", func(s *Schedule, v []Entry) { s.Params = v }),
	keytable.Choice("overlap", "", overlaps, "What becomes of a slot while a run of the schedule is under way.", func(s *Schedule, v string) { s.Overlap = v }).WithDefault("skip"),
	catchUp(),
	keytable.Duration("jitter", "", "Spreads runs over this time after their slot.", func(s *Schedule, v time.Duration) { s.Jitter = v }),
	keytable.Text("start", "", "First moment that may be a slot: a date, or a time as in 2026-12-01T08:00:00Z. Slots of every are counted from it.", func(s *Schedule, v Text) { s.Start = &v }),
	keytable.Text("end", "", "Moment from which there are no more slots.", func(s *Schedule, v Text) { s.End = &v }),
	keytable.Boolean("skip-if-successful", "", "Leaves a slot out where a run of the schedule has succeeded since the slot before.", func(s *Schedule, v bool) { s.SkipIfSuccessful = v }).WithDefault("false"),
).Checked(checkSchedule)

var catchUpObject = keytable.NewObject("catch-up", "What becomes of slots that passed while no service was there.",
	keytable.Choice("mode", "", catchUps, "None of them runs, one run makes up for all, or each runs.", func(c *CatchUp, v string) { c.Mode = v }).WithDefault("once"),
	keytable.Duration("window", "", "How late a slot may be made up for; without bound where absent.", func(c *CatchUp, v time.Duration) { c.Window = v }),
	keytable.Integer("max", "", 1, 100, "How many slots mode all makes up for at most, the newest ones.", func(c *CatchUp, n int) { c.Max = n }).WithDefault("100"),
)

// catchUp is a section, or its mode alone.
func catchUp() keytable.Field {
	f := keytable.Nested("catch-up", "", catchUpObject, "What becomes of slots that passed while no service was there: a mode, or a mapping with bounds.", func(s *Schedule) *CatchUp { return &s.CatchUp })
	f.Kind, f.Enum = keytable.KindChoiceOrObject, catchUps
	full := f.Set
	f.Set = func(d *keytable.Decoder, into any, n *yaml.Node) {
		if n = keytable.Deref(n); n.Kind == yaml.MappingNode && !keytable.IsPlaceholder(n) {
			full(d, into, n)
		} else if word, ok := keytable.OneOf(catchUps)(d, n); ok {
			into.(*Schedule).CatchUp.Mode = word
		}
	}
	return f
}

var outputObject = keytable.NewObject("output", "How the output of a step is captured.",
	keytable.Choice("mode", "S1-043", []string{"buffer", "stream"}, "Whether output is shown while the step runs.", func(o *Output, v string) { o.Mode = v }).WithDefault("buffer"),
	keytable.Size("buffer-limit", "S1-044", "How much of the output references and JSON see.", func(o *Output, v int64) { o.BufferLimit = v }).WithDefault("10MB"),
	keytable.Boolean("truncation", "S1-045", "Whether longer output is cut; if not, the step fails.", func(o *Output, v bool) { o.Truncation = &v }).WithDefault("true"),
	streamCallbackField(),
	keytable.Text("file", "S1-086", "File that streamed output goes to; the log file where absent.", func(o *Output, v Text) { o.File = &v }),
	keytable.Texts("masked-values", "S1-047", "Values shown as *** wherever output is kept.", func(o *Output, v []Text) { o.MaskedValues = v }),
)

var environmentObject = keytable.NewObject("environment", "Environment variables.",
	keytable.TextMap("variables", "S1-170", "Variables by name, with templates as values.", func(e *Environment, v []Entry) { e.Variables = v }),
	keytable.Boolean("inherit", "S1-171", "Whether the variables of the calling process are passed on.", func(e *Environment, v bool) { e.Inherit = &v }).WithDefault("true"),
	keytable.Mixed("secrets", "S1-172", secretObject, "Names of variables or parameters whose values are masked, and variables with a source for their value.",
		func(e *Environment) *Secret { return add(&e.Secrets, Secret{}) }, func(s *Secret, v Text) { s.Name = v }),
).Checked(checkEnvironment)

var secretObject = keytable.NewObject("a secret", "A variable whose value is fetched when the run begins, and masked.",
	keytable.Text("name", "S1-174", "Name of the variable.", func(s *Secret, v Text) { s.Name = v }).AsRequired(),
	keytable.Text("env", "S1-174", "Variable of an env file, or of the calling process, that holds the value.", func(s *Secret, v Text) { s.Env = &v }),
	keytable.Text("file", "S1-174", "File that holds the value; one line end after it is taken off.", func(s *Secret, v Text) { s.File = &v }),
	keytable.Text("command", "S1-174", "Program and arguments, started without a shell, that prints the value.", func(s *Secret, v Text) { s.Command = &v }),
).Checked(checkSecret)

var envFileObject = keytable.NewObject("an env file", "A file of environment variables.",
	keytable.Text("path", "", "Path of the file.", func(f *EnvFile, v Text) { f.Path = v }).AsRequired(),
	keytable.Boolean("optional", "", "Whether the file may be missing.", func(f *EnvFile, v bool) { f.Optional = v }).WithDefault("false"),
).Checked(checkEnvFile)

var filePathsObject = keytable.NewObject("file-paths", "How paths are written and where temporary files go.",
	keytable.Boolean("normalize", "S1-180", "Writes values of parameters with path: true the way of the platform: a//b/../c as a/c, ~ as the home directory.", func(f *FilePaths, v bool) { f.Normalize = v }).WithDefault("false"),
	keytable.Text("working-directory", "S1-181", "Directory the steps run in, where the tool gives none.", func(f *FilePaths, v Text) { f.WorkingDirectory = &v }),
	keytable.Text("temp-directory", "S1-182", "Directory that is made for the run and removed after it.", func(f *FilePaths, v Text) { f.TempDirectory = &v }),
	keytable.Nested("cross-platform", "S1-183", crossPlatformObject, "Separators.", func(f *FilePaths) *FilePaths { return f }),
).Checked(func(d *keytable.Decoder, into any, n *yaml.Node, _ []*yaml.Node) { into.(*FilePaths).Pos = d.Pos(n) })

var crossPlatformObject = keytable.NewObject("cross-platform", "Separators of paths.",
	keytable.Choice("windows-separator", "S1-183", separators, "Separator on Windows.", func(f *FilePaths, v string) { f.WindowsSeparator = v }).WithDefault(`\`),
	keytable.Choice("unix-separator", "S1-184", separators, "Separator elsewhere.", func(f *FilePaths, v string) { f.UnixSeparator = v }).WithDefault("/"),
	keytable.Boolean("auto-convert", "S1-185", "Writes / and \\ in values of parameters with path: true as the platform's separator.", func(f *FilePaths, v bool) { f.AutoConvert = v }).WithDefault("false"),
)

var resourcesObject = keytable.NewObject("resources", "Limits and cleaning up.",
	keytable.Duration("timeout", "S1-191", "Bound on the whole run; the smaller of this and the tool's timeout counts.", func(t *draft, v time.Duration) { t.resTimeout = &v }),
	keytable.Size("max-memory", "S1-193", "Bound on the memory of each step; see isolation.md.", func(t *draft, v int64) { t.Resources.MaxMemory = v }),
	keytable.List("cleanup", "S1-194", cleanupObject, "What is done after the run, however it ended.", func(t *draft, _ Pos) *Resources { return &t.Resources }),
)

var cleanupObject = keytable.NewObject("cleanup", "One thing that is done after the run.",
	keytable.Boolean("delete-temp-files", "S1-194", "Removes the temporary directory.", func(r *Resources, v bool) { r.DeleteTempFiles = v }),
	keytable.Text("final-command", "S1-194", "Command that runs after the run.", func(r *Resources, v Text) { r.FinalCommands = append(r.FinalCommands, v) }),
)

var securityObject = keytable.NewObject("security", "What the tool may do.",
	keytable.Choice("execution-privilege", "S1-210", []string{"same-as-user", "reduced", "elevated"}, "Rights the steps have; see isolation.md.", func(s *Security, v string) { s.ExecutionPrivilege = v }).WithDefault("same-as-user"),
	placed(keytable.Choice("isolation", "S1-211", []string{"none", "process", "container"}, "What separates the steps from the system; see isolation.md.", func(s *Security, v string) { s.Isolation = v }).WithDefault("process"),
		func(s *Security) *Pos { return &s.IsolationPos }),
	imageField(),
	keytable.Texts("required-permissions", "S1-212", "What the tool needs, such as network:external:HOST. Declared for those who decide; a container has a network only with one for it.", func(s *Security, v []Text) { s.RequiredPermissions = v }),
	keytable.Words("justification", "S1-213", "Why it needs that.", func(s *Security, v string) { s.Justification = v }),
)

var metadataObject = keytable.NewObject("metadata", "How the tool is found.",
	keytable.Words("category", "S1-220", "Category.", func(m *Metadata, v string) { m.Category = v }),
	keytable.Words("subcategory", "S1-221", "Subcategory.", func(m *Metadata, v string) { m.Subcategory = v }),
	keytable.WordList("tags", "S1-222", "Tags for searching; they say nothing about rights.", func(m *Metadata, v []string) { m.Tags = v }),
	keytable.WordList("search-keywords", "S1-223", "Further words the tool is found by.", func(m *Metadata, v []string) { m.SearchKeywords = v }),
)

var interactiveObject = keytable.NewObject("interactive-options", "Questions of an interactive tool.",
	keytable.Duration("timeout", "S1-202", "How long to wait for an answer.", func(i *InteractiveOptions, v time.Duration) { i.Timeout = v }),
	keytable.Text("default-response", "S1-203", "Answer that is taken when none came.", func(i *InteractiveOptions, v Text) { i.DefaultResponse = &v }),
)

var functionCallingObject = keytable.NewObject("function-calling", "How the tool is shown to models.",
	keytable.Nested("schema-generation", "S1-230", schemaObject, "What the schema of the parameters holds.", func(f *FunctionCalling) *FunctionCalling { return f }),
)

var schemaObject = keytable.NewObject("schema-generation", "What the schema of the parameters holds.",
	keytable.Nested("parameter-mapping", "S1-230", mappingObject, "Types of parameters to types of JSON Schema.", func(f *FunctionCalling) *FunctionCalling { return f }),
	keytable.Boolean("include-descriptions", "S1-231", "Includes descriptions of parameters.", func(f *FunctionCalling, v bool) { f.IncludeDescriptions = &v }).WithDefault("true"),
	keytable.Boolean("include-defaults", "S1-232", "Includes default values.", func(f *FunctionCalling, v bool) { f.IncludeDefaults = &v }).WithDefault("true"),
	keytable.Boolean("example-generation", "S1-233", "Includes examples.", func(f *FunctionCalling, v bool) { f.ExampleGeneration = &v }).WithDefault("false"),
	keytable.Boolean("sanitize-schemas", "S1-234", "Keeps to what every model accepts.", func(f *FunctionCalling, v bool) { f.SanitizeSchemas = &v }).WithDefault("true"),
)

var mappingObject = keytable.NewObject("parameter-mapping", "Types of parameters to types of JSON Schema.",
	mapped("string"), mapped("number"), mapped("boolean"), mapped("array"), mapped("object"),
)

// mapped is the type of JSON Schema that a type of parameters is shown as.
func mapped(typ string) keytable.Field {
	return keytable.Choice(typ, "S1-230", jsonTypes, "What the type "+typ+" is shown as.", func(f *FunctionCalling, v string) {
		if f.ParameterMapping == nil {
			f.ParameterMapping = map[string]string{}
		}
		f.ParameterMapping[typ] = v
	}).WithDefault(typ)
}

var notifyObject = keytable.NewObject("a notification", "A command, or an address, that is told how runs end.",
	keytable.Choices("on", "", NotifyEvents(), "What it is told of; failure, recovery and waiting where absent.", func(n *Notify, v []string) { n.On = v }),
	keytable.Text("command", "", "Program and arguments, started without a shell, with the run as JSON on its standard input.", func(n *Notify, v Text) { n.Command = &v }).AsBody(),
	keytable.Text("webhook", "", "Address that the run is posted to; ${NAME} in it is an environment variable.", func(n *Notify, v Text) { n.Webhook = &v }).AsBody(),
	keytable.Text("secret-env", "", "Environment variable that holds the secret to sign posts with.", func(n *Notify, v Text) { n.SecretEnv = &v }),
	keytable.Text("secret-file", "", "File that holds the secret to sign posts with.", func(n *Notify, v Text) { n.SecretFile = &v }),
).Checked(checkNotify)

var changeObject = keytable.NewObject("a change", "What changed in one version.",
	keytable.Text("version", "S1-014", "The version.", func(c *Change, v Text) { c.Version, c.Pos = v.S, v.Pos }),
	keytable.Words("changes", "S1-014", "What changed.", func(c *Change, v string) { c.Changes = v }),
)

// parameterDraft is a Parameter being read. It is a type of its own so that a
// parameter's security section cannot be taken for the tool's.
type parameterDraft struct{ *Parameter }

var parameterObject = keytable.NewObject("a parameter", "One value the tool takes.",
	keytable.Choice("type", "S1-091", typeNames, "Type of the value.", func(p *parameterDraft, v string) { p.Type = v }).WithDefault("string"),
	keytable.Words("description", "S1-092", "What the value is for.", func(p *parameterDraft, v string) { p.Description = v }).AsRequired(),
	keytable.Boolean("required", "S1-093", "Whether a caller must give it; a default satisfies it.", func(p *parameterDraft, v bool) { p.Required = v }).WithDefault("false"),
	keytable.AnyValue("default", "S1-094", "Value where a caller gives none; it may name other parameters.", func(p *parameterDraft, v Value) { p.Default = &v }),
	keytable.Nested("validation", "S1-095", validationObject, "Rules for the value.", func(p *parameterDraft) *Validation { return &p.Validation }),
	keytable.Text("transform", "S1-101", "Changes to the value before it is used: predefined transforms, or JavaScript over value.", func(p *parameterDraft, v Text) { p.Transform = &v }),
	keytable.Text("format", "S1-102", "How the value stands in a command, with {value} in its place.", func(p *parameterDraft, v Text) { p.Format = &v }),
	keytable.Text("delimiter", "S1-133", "What stands between elements of an array inside quotes.", func(p *parameterDraft, v Text) { p.Delimiter = &v }).WithDefault(" "),
	keytable.AnyValues("examples", "S1-103", "Example values.", func(p *parameterDraft, v []Value) { p.Examples = v }),
	keytable.Words("detailed-help", "S1-104", "A longer description.", func(p *parameterDraft, v string) { p.DetailedHelp = v }),
	keytable.Nested("security", "S1-105", parameterSecurityObject, "How the value enters a shell.", func(p *parameterDraft) *parameterDraft { return p }),
	keytable.Boolean("allow-dash", "", "Allows values that begin with '-' where they may be read as an option.", func(p *parameterDraft, v bool) { p.AllowDash = v }).WithDefault("false"),
	keytable.Boolean("path", "S1-180", "Whether the value, or each element of an array, is a path, which file-paths may rewrite.", func(p *parameterDraft, v bool) { p.Path = v }).WithDefault("false"),
	keytable.Boolean("deprecated", "S1-017", "Whether the parameter should no longer be used.", func(p *parameterDraft, v bool) { p.Deprecated = v }).WithDefault("false"),
	keytable.Words("deprecated-alternative", "S1-018", "The parameter to use instead.", func(p *parameterDraft, v string) { p.DeprecatedAlternative = v }),
).Checked(checkParameter)

var parameterSecurityObject = keytable.NewObject("a parameter's security", "How the value enters a shell.",
	keytable.Boolean("escape-shell", "S1-105", "Whether the value is data to the shell; if not, the shell reads it as code.", func(p *parameterDraft, v bool) { p.EscapeShell = &v }).WithDefault("true"),
)

var validationObject = keytable.NewObject("validation", "Rules for the value of a parameter.",
	keytable.Integer("minLength", "S1-095", 0, 1<<31-1, "Least number of characters.", func(v *Validation, n int) { v.MinLength = &n }),
	keytable.Integer("maxLength", "S1-096", 0, 1<<31-1, "Greatest number of characters.", func(v *Validation, n int) { v.MaxLength = &n }),
	keytable.Text("pattern", "S1-097", "Regular expression (RE2) that is found in the text.", func(v *Validation, t Text) { v.Pattern = &t }),
	keytable.Number("minimum", "S1-098", "Least number.", func(v *Validation, n float64) { v.Minimum = &n }),
	keytable.Number("maximum", "S1-099", "Greatest number.", func(v *Validation, n float64) { v.Maximum = &n }),
	keytable.AnyValues("enum", "S1-100", "The values that are allowed.", func(v *Validation, all []Value) { v.Enum = all }),
)

var testObject = keytable.NewObject("a test", "One test of the tool.",
	keytable.Words("name", "S1-240", "Name of the test.", func(t *Test, v string) { t.Name = v }).AsRequired(),
	keytable.Words("description", "S1-241", "What it shows.", func(t *Test, v string) { t.Description = v }),
	keytable.ValueMap("parameters", "S1-242", "Parameters of the run.", func(t *Test, v []Entry) { t.Parameters = v }),
	keytable.Choices("platforms", "S1-249", platformNames, "Where the test runs; everywhere where absent.", func(t *Test, v []string) { t.Platforms = v }),
	keytable.Texts("files", "", "Files and folders, by paths from the definition's folder, that are copied into the folder of the test.", func(t *Test, v []Text) { t.Files = v }),
	keytable.Nested("expected", "S1-243", expectedObject, "What must hold after the run.", func(t *Test) *Expected { return &t.Expected }),
	keytable.Texts("cleanup", "S1-248", "Commands that run after the test.", func(t *Test, v []Text) { t.Cleanup = v }),
).Checked(checkTest)

var expectedObject = keytable.NewObject("expected", "What must hold after the run of a test.",
	keytable.Integer("exit-code", "S1-243", 0, 255, "Exit code of the run.", func(e *Expected, v int) { e.ExitCode = &v }),
	keytable.Texts("output-contains", "S1-244", "Texts that all stand in the output.", func(e *Expected, v []Text) { e.OutputContains = v }),
	keytable.Texts("output-contains-any", "S1-245", "Texts of which one stands in the output.", func(e *Expected, v []Text) { e.OutputContainsAny = v }),
	keytable.Text("output-equals", "", "The whole output, one line end after it left out.", func(e *Expected, v Text) { e.OutputEquals = &v }),
	keytable.Text("output-matches", "", "Regular expression (RE2) that is found in the output.", func(e *Expected, v Text) { e.OutputMatches = &v }),
	keytable.Texts("stderr-contains", "", "Texts that all stand in what the steps write to standard error.", func(e *Expected, v []Text) { e.StderrContains = v }),
	keytable.Texts("file-exists", "S1-246", "Files that exist.", func(e *Expected, v []Text) { e.FileExists = v }),
	keytable.Texts("directory-exists", "S1-247", "Directories that exist.", func(e *Expected, v []Text) { e.DirectoryExists = v }),
	keytable.TextMap("steps", "", "States in which steps end, by the steps' names or paths.", func(e *Expected, v []Entry) { e.Steps = v }),
).Checked(checkExpected)

// add appends v to a list and returns where it now stands, good until the next add.
func add[V any](to *[]V, v V) *V {
	*to = append(*to, v)
	return &(*to)[len(*to)-1]
}

func addPointer[V any](to *[]*V, v *V) *V {
	*to = append(*to, v)
	return v
}

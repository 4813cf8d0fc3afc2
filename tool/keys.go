package tool

import (
	"fmt"
	"regexp"
	"sync"
	"time"

	"gopkg.in/yaml.v3"
)

// This file is the table of keys: every key of a definition file, what may
// stand there, what it means, the inventory row it comes from and where its
// value goes. The decoder walks it; the JSON Schema and the reference page are
// made from it. A key that is not here does not exist.

// Keys is the object at the top of a definition file. Everything else a file
// may hold is found from it through Field.Of. It is not to be changed.
func Keys() *Object { return toolObject }

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

var toolObject = NewObject("a tool", "One tool: what it is called, what it runs and what it takes.",
	append(bodyFields(func(t *draft) *Step { return &t.single }),
		text("name", "S1-010", "Name of the tool; the file's name without extension where absent.", func(t *draft, v Text) { t.Name, t.namePos = v.S, v.Pos }),
		words("description", "S1-011", "What the tool does, for people and models.", func(t *draft, v string) { t.Description = v }).required(),
		words("version", "S1-012", "Version of the tool, semantic versioning.", func(t *draft, v string) { t.Version = v }),
		text("min-cycod-version", "S1-013", "Lowest compatibility level the tool needs.", func(t *draft, v Text) { t.MinVersion = &v }),
		text("min-flowrun-version", "S1-013", "Lowest version of flowrun that can run the tool.", func(t *draft, v Text) { t.MinFlowrun = &v }),
		list("changelog", "S1-014", changeObject, "What changed in each version.", func(t *draft, p Pos) *Change { return add(&t.Changelog, Change{Pos: p}) }),
		mixed("schedule", "", scheduleObject, "When the service runs the tool by itself: cron expressions, or mappings with more to say; see schedules.md.",
			func(t *draft) *Schedule { return addPointer(&t.Schedules, &Schedule{}) }, func(s *Schedule, v Text) { s.Cron, s.Pos = &v, v.Pos }),
		boolean("deprecated", "S1-015", "Whether the tool should no longer be used.", func(t *draft, v bool) { t.Deprecated = v }).def("false"),
		words("deprecated-message", "S1-016", "What to use instead.", func(t *draft, v string) { t.DeprecatedMessage = v }),

		choice("type", "S1-165", []string{"alias"}, "Makes the tool an alias of another one.", func(t *draft, _ string) { t.Alias = true }),
		text("base-tool", "S1-166", "The tool an alias stands for.", func(t *draft, v Text) { t.BaseTool = v }),
		valueMap("default-parameters", "S1-167", "Values an alias gives to parameters of its base tool.", func(t *draft, v []Entry) { t.DefaultParameters = v }),

		stepsField(),
		handler("on-success", "Steps that run once all others have ended well.", func(t *draft) *[]*Step { return &t.Handlers.OnSuccess }),
		handler("on-failure", "Steps that run once the others have ended and one of them has failed.", func(t *draft) *[]*Step { return &t.Handlers.OnFailure }),
		handler("finally", "Steps that run last, however the others ended.", func(t *draft) *[]*Step { return &t.Handlers.Finally }),
		named("parameters", "S1-090", parameterObject, "What the tool takes, by name.", func(t *draft, name string, p Pos) *parameterDraft {
			return &parameterDraft{addPointer(&t.Parameters, &Parameter{Name: name, Pos: p, Type: "string"})}
		}),
		environment("environment", func(t *draft) *Environment { return &t.Environment }),
		envFiles(func(t *draft) *[]EnvFile { return &t.EnvFiles }),
		text("working-directory", "S1-186", "Directory the steps run in.", func(t *draft, v Text) { t.WorkingDirectory = &v }),
		nested("file-paths", "S1-180", filePathsObject, "How paths are written and where temporary files go.", func(t *draft) *FilePaths { return &t.FilePaths }),
		duration("timeout", "S1-190", "Bound on the whole run.", func(t *draft, v time.Duration) { t.timeout = &v }),
		choices("platforms", "S1-225", platformNames, "Where the tool runs; everywhere where absent.", func(t *draft, v []string) { t.Platforms = v }),
		wordList("tags", "S1-224", "Categories; read, write and run say what the tool may do.", func(t *draft, v []string) { t.Tags = v }),
		boolean("ignore-errors", "S1-070", "Counts every step as continue-on-error.", func(t *draft, v bool) { t.IgnoreErrors = v }).def("false"),
		boolean("fail-fast", "S1-067", "Cancels what still runs at the first failure.", func(t *draft, v bool) { t.FailFast = v }).def("false"),
		text("input", "S1-200", "Data on the standard input of the steps.", func(t *draft, v Text) { t.Input = &v }),
		text("output", "S1-087", "The run's output, a template over step references.", func(t *draft, v Text) { t.Output = &v }),
		nested("error-handling", "S1-078", errorHandlingObject, "Retry and fallback of every step without its own.", func(t *draft) *ErrorHandling { return &t.ErrorHandling }),
		boolean("strict", "S1-077", "Stops shell scripts at the first failing command.", func(t *draft, v bool) { t.Strict = v }).def("false"),
		boolean("interactive", "S1-201", "Whether a person answers questions of the tool.", func(t *draft, v bool) { t.Interactive = v }).def("false"),
		interactiveOptions("How long to wait for an answer and what to take without one.", func(t *draft) *InteractiveOptions { return &t.InteractiveOptions }),
		integer("max-active-runs", "", 1, 1<<20, "How many runs of the tool may be under way at once; later ones stand in line.", func(t *draft, v int) { t.MaxActiveRuns = v }),
		locksField(),
		choice("on-interrupt", "", interruptions, "What becomes of a step that ran when the engine died.", func(t *draft, v string) { t.OnInterrupt = v }),
		boolean("idempotent", "", "Whether running a step twice does no harm.", func(t *draft, v bool) { t.Idempotent = v }).def("false"),
		nested("resources", "S1-191", resourcesObject, "Limits and cleaning up.", func(t *draft) *draft { return t }),
		nested("security", "S1-210", securityObject, "What the tool may do.", func(t *draft) *Security { return &t.Security }),
		nested("metadata", "S1-220", metadataObject, "How the tool is found.", func(t *draft) *Metadata { return &t.Metadata }),
		nested("function-calling", "S1-230", functionCallingObject, "How the tool is shown to models.", func(t *draft) *FunctionCalling { return &t.FunctionCalling }),
		list("notify", "", notifyObject, "Who is told how runs of the tool end.", func(t *draft, p Pos) *Notify { return add(&t.Notify, Notify{Pos: p}) }),
		list("tests", "S1-240", testObject, "Tests of the tool.", func(t *draft, p Pos) *Test { return add(&t.Tests, Test{Pos: p}) }),
	)...).checked(checkTool)

var stepObject = NewObject("a step", "One step: a command, or the use of another tool.",
	append(bodyFields(func(s *Step) *Step { return s }),
		text("name", "S1-030", "Name of the step, unique in the tool.", func(s *Step, v Text) { s.Name, s.Pos = v.S, v.Pos }).required(),
		text("use-tool", "S1-040", "Another tool, by name or path.", func(s *Step, v Text) { s.Kind, s.UseTool = UseTool, v }).body(),
		nested("wait", "", waitObject, "Waits for a time, a file, an address or a port.", func(s *Step) *Wait {
			s.Kind, s.Wait = Waiting, &Wait{}
			return s.Wait
		}).body(),
		textOr("approve", "", approveObject, "Asks a person whether the run goes on; a text is the question.", func(s *Step) *approveDraft {
			s.Kind, s.Approve = Asking, &Approve{}
			return &approveDraft{Approve: s.Approve}
		}, func(a *approveDraft, v Text) { a.Pos, a.Prompt = v.Pos, v }).body(),
		valueMap("with", "S1-041", "Parameters of the other tool.", func(s *Step, v []Entry) { s.With = v }),
		boolean("continue-on-error", "S1-033", "Counts a failure of the step as settled well.", func(s *Step, v bool) { s.ContinueOnError = v }).def("false"),
		text("run-condition", "S1-034", "Condition under which the step runs.", func(s *Step, v Text) { s.RunCondition = &v }),
		boolean("parallel", "S1-035", "Starts the step together with the one before it.", func(s *Step, v bool) { s.Parallel = v }).def("false"),
		texts("wait-for", "S1-036", "The steps to wait for, instead of all earlier ones.", func(s *Step, v []Text) { s.WaitFor, s.HasWaitFor = v, true }),
		nested("error-handling", "S1-037", errorHandlingObject, "Retry and fallback.", func(s *Step) *ErrorHandling { return &s.ErrorHandling }),
		duration("timeout", "S1-042", "Bound on each try.", func(s *Step, v time.Duration) { s.Timeout = v }),
		nested("output", "S1-043", outputObject, "How output is captured.", func(s *Step) *Output { return &s.Output }),
		text("input", "S1-200", "Data on the step's standard input.", func(s *Step, v Text) { s.Input = &v }),
		environment("environment", func(s *Step) *Environment { return &s.Environment }),
		envFiles(func(s *Step) *[]EnvFile { return &s.EnvFiles }),
		text("working-directory", "S1-186", "Directory the step runs in.", func(s *Step, v Text) { s.WorkingDirectory = &v }),
		boolean("strict", "S1-077", "Stops the shell script at the first failing command.", func(s *Step, v bool) { s.Strict = &v }),
		boolean("interactive", "S1-201", "Whether a person answers questions of the step; the tool's where absent.", func(s *Step, v bool) { s.Interactive = &v }),
		interactiveOptions("How long to wait for an answer of the step and what to take without one; what is absent is the tool's.", func(s *Step) *InteractiveOptions { return &s.InteractiveOptions }),
		boolean("detach", "", "Leaves background processes of the step running after the run.", func(s *Step, v bool) { s.Detach = v }).def("false"),
		choice("on-interrupt", "", interruptions, "What becomes of the step if it ran when the engine died.", func(s *Step, v string) { s.OnInterrupt = v }),
		boolean("idempotent", "", "Whether running the step twice does no harm.", func(s *Step, v bool) { s.Idempotent = &v }),
	)...).checked(checkStep)

// A step holds steps: these fields make the table a circle, and so are added to it
// once it is there.
func init() {
	stepObject.add(
		list("steps", "", stepObject, "A group of steps that run as one.", func(s *Step, p Pos) *Step {
			s.Kind = Group
			return addPointer(&s.Steps, &Step{Pos: p})
		}).body(),
		forEach(),
		matrix(),
		handler("on-success", "Steps that run after this one when it succeeded.", func(s *Step) *[]*Step { return &s.Handlers.OnSuccess }),
		handler("on-failure", "Steps that run after this one when it failed.", func(s *Step) *[]*Step { return &s.Handlers.OnFailure }),
		handler("finally", "Steps that run after this one however it ended.", func(s *Step) *[]*Step { return &s.Handlers.Finally }),
	)
}

func handler[T any](key, doc string, to func(*T) *[]*Step) Field {
	return list(key, "", stepObject, doc, func(into *T, p Pos) *Step { return addPointer(to(into), &Step{Pos: p}) })
}

func (s *Step) loop() *Loop {
	if s.Loop == nil {
		s.Loop = &Loop{}
	}
	return s.Loop
}

// loopFields are the keys that for-each and matrix share.
func loopFields() []Field {
	return []Field{
		integer("max-parallel", "", 1, 1<<20, "How many items are under way at once; as many as steps may run where absent.", func(l *Loop, n int) { l.MaxParallel = n }),
		integer("min-success", "", 1, 1<<20, "How many items must succeed; all where absent.", func(l *Loop, n int) { l.MinSuccess = n }),
		boolean("fail-fast", "", "Cancels the rest once too many items have failed.", func(l *Loop, v bool) { l.FailFast = v }).def("false"),
	}
}

var forEachObject = NewObject("for-each", "What a step runs for, one item after another or several at once.",
	append([]Field{
		value("items", "", "A list, one reference to a list, to lines of text or to a JSON array, or an expression such as 1..5.", func(l *Loop, v Value) { l.Items = &v }).required(),
		text("as", "", "Name of the item in the step.", func(l *Loop, v Text) { l.As = &v }).def("item"),
		text("key", "", "What an item is called, a template over it; its number from 0 where absent.", func(l *Loop, v Text) { l.Key = &v }),
	}, loopFields()...)...).checked(checkForEach)

var matrixObject = NewObject("matrix", "Names with lists of values: the step runs once for every combination.",
	append([]Field{
		values("include", "", "Combinations to add, or to complete with further values.", func(l *Loop, v []Value) { l.Include = v }),
		values("exclude", "", "Combinations to leave out; one value is enough to name them.", func(l *Loop, v []Value) { l.Exclude = v }),
	}, loopFields()...)...).checked(checkMatrix)

// forEach is a section; a bare list has a hint of its own.
func forEach() Field {
	f := nested("for-each", "", forEachObject, "Runs the step once for every item of a list.", func(s *Step) *Loop { return s.loop() })
	read := f.set
	f.set = func(d *decoder, into any, n *yaml.Node) {
		if bare := deref(n); bare.Kind == yaml.SequenceNode {
			d.fail(n, "wrong-type", "expected a mapping of keys, found a list", "write for-each: {items: [a, b]}")
			return
		}
		read(d, into, n)
	}
	return f
}

// matrix is a section of its own keys and of names for lists of values.
func matrix() Field {
	f := nested("matrix", "", matrixObject, "Runs the step once for every combination of values.", func(s *Step) *Loop { return s.loop() })
	f.Kind = KindMatrix
	f.set = func(d *decoder, into any, n *yaml.Node) {
		l := into.(*Step).loop()
		d.objectAnd(matrixObject, l, n, func(key, v *yaml.Node) {
			d.path.push(key.Value)
			if read, ok := d.value(v); ok {
				l.Axes = append(l.Axes, Entry{Key: key.Value, Pos: d.pos(key), Value: read})
			}
			d.path.pop()
		})
	}
	return f
}

// bodyFields are the kinds of command a step and a tool without steps share.
func bodyFields[T any](step func(*T) *Step) []Field {
	command := func(kind Kind, row, doc string) Field {
		return text(string(kind), row, doc, func(t *T, v Text) { step(t).Kind, step(t).Command = kind, v }).body()
	}
	return []Field{
		command(Bash, "S1-020", "Script for bash."),
		command(Sh, "S1-020", "Script for sh."),
		command(Cmd, "S1-021", "Script for cmd on Windows."),
		command(Pwsh, "S1-022", "Script for PowerShell."),
		command(Run, "S1-023", "Program and arguments, started without a shell."),
		command(Python, "S1-029", "Script for Python."),
		command(Script, "S1-024", "Script for the program named by shell."),
		text(string(JS), "", "JavaScript: the body of a function, whose result is the step's; see javascript.md.", func(t *T, v Text) {
			step(t).Kind, step(t).Script = JS, &JSCode{Role: RoleStep, Code: v}
		}).body(),
		text("shell", "S1-025", "Program that reads script or commands.", func(t *T, v Text) { step(t).Shell = &v }).def("bash"),
		nested("commands", "S1-026", commandsObject, "One command for each platform.", func(t *T) *Commands {
			step(t).Kind, step(t).Commands = PerOS, &Commands{Platforms: map[string]Text{}}
			return step(t).Commands
		}).body(),
		nested("cache", "", cacheObject, "When the command need not run again, because nothing it depends on has changed.", func(t *T) *Cache {
			step(t).Cache = &Cache{}
			return step(t).Cache
		}),
	}
}

// stepsField is the list of steps, refused as a whole where it is too long to
// be meant.
func stepsField() Field {
	f := list("steps", "S1-030", stepObject, "The steps, in the order they run unless they say otherwise.", func(t *draft, p Pos) *Step {
		return addPointer(&t.Steps, &Step{Pos: p})
	}).body()
	each := f.set
	f.set = func(d *decoder, into any, n *yaml.Node) {
		if steps := deref(n); len(steps.Content) > maxSteps && steps.Kind == yaml.SequenceNode {
			d.fail(steps, "too-many-steps", fmt.Sprintf("cannot read %d steps: a tool may have %d", len(steps.Content), maxSteps), "split the tool and join the parts with use-tool")
			return
		}
		each(d, into, n)
	}
	return f
}

// environment is a section of variables, written in full or as {NAME: value}
// alone (S1-172).
func environment[T any](key string, part func(*T) *Environment) Field {
	f := nested(key, "S1-170", environmentObject, "Environment variables.", part)
	f.Kind = KindEnvironment
	full := f.set
	flat := textMap(key, f.Row, f.Doc, func(into *T, v []Entry) { part(into).Variables = v }).set
	f.set = func(d *decoder, into any, n *yaml.Node) {
		set := flat
		if section := deref(n); section.Kind == yaml.MappingNode {
			content := d.merged(section)
			for _, k := range environmentObject.keys() {
				if keyOf(content, k) != nil {
					set = full
				}
			}
		}
		set(d, into, n)
		d.variableNames(part(into.(*T)).Variables)
	}
	return f
}

// envFiles is a list of .env files.
func envFiles[T any](of func(*T) *[]EnvFile) Field {
	return mixed("env-files", "", envFileObject, "Files of environment variables (.env); later ones win, and environment wins over all.",
		func(into *T) *EnvFile { return add(of(into), EnvFile{}) }, func(f *EnvFile, v Text) { f.Path = v })
}

// placed keeps the place of a key, for messages about it.
func placed[T any](f Field, pos func(*T) *Pos) Field {
	read := f.set
	f.set = func(d *decoder, into any, n *yaml.Node) {
		*pos(into.(*T)) = d.pos(n)
		read(d, into, n)
	}
	return f
}

// imageField is the name of a container image. One that begins with a dash would be
// an option of the program that starts the container.
func imageField() Field {
	f := words("image", "S1-211", "Image of the container, with isolation: container.", func(s *Security, v string) { s.Image = v }).def(DefaultImage)
	read := f.set
	f.set = func(d *decoder, into any, n *yaml.Node) {
		if v := deref(n); v.Kind == yaml.ScalarNode && !imageName().MatchString(v.Value) {
			d.fail(n, "bad-image", fmt.Sprintf("%s is no name of an image", printable(v.Value)), `write it as registries have it: "docker.io/library/debian:12"`)
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
func interactiveOptions[T any](doc string, part func(*T) *InteractiveOptions) Field {
	f := nested("interactive-options", "S1-202", interactiveObject, doc, part)
	read := f.set
	f.set = func(d *decoder, into any, n *yaml.Node) {
		part(into.(*T)).Pos = d.pos(n)
		read(d, into, n)
	}
	return f
}

// streamCallbackField keeps the place of the key, for the message where nobody calls
// a function.
func streamCallbackField() Field {
	f := choice("stream-callback", "S1-046", []string{"console", "file", "function"}, "Where streamed output goes.", func(o *Output, v string) { o.StreamCallback = v }).def("console")
	read := f.set
	f.set = func(d *decoder, into any, n *yaml.Node) {
		into.(*Output).StreamPos = d.pos(n)
		read(d, into, n)
	}
	return f
}

var approveObject = NewObject("approve", "What a person is asked, and for how long.",
	text("prompt", "", "The question.", func(a *approveDraft, v Text) { a.Prompt = v }).required(),
	valueMap("form", "", "Values that the person gives: a JSON Schema (2020-12) of an object, with properties.", func(a *approveDraft, v []Entry) { a.form = v }),
	duration("timeout", "", "How long to wait for an answer; for ever where absent.", func(a *approveDraft, v time.Duration) { a.Timeout = v }),
	choice("on-timeout", "", []string{"approve", "reject", "fail"}, "What holds when nobody has answered in time; approve takes the defaults of the form.", func(a *approveDraft, v string) { a.OnTimeout = v }).def("fail"),
).checked(checkApprove)

var waitObject = NewObject("wait", "What a step waits for: one of for, until, file, http and port.",
	duration("for", "", "How long.", func(w *Wait, v time.Duration) { w.For = v }).body(),
	text("until", "", "Until when, RFC 3339: 2026-03-01T09:00:00Z.", func(w *Wait, v Text) { w.Until = &v }).body(),
	text("file", "", "Until there is a file or folder of that path; a relative one counts from the tool's working directory.", func(w *Wait, v Text) { w.File = &v }).body(),
	text("http", "", "Until that address answers well: GET, redirects followed, 200 to 299.", func(w *Wait, v Text) { w.HTTP = &v }).body(),
	text("port", "", "Until something takes connections there, HOST:PORT.", func(w *Wait, v Text) { w.Port = &v }).body(),
	integer("status", "", 100, 599, "The status that the address of http must answer, where another one is meant.", func(w *Wait, v int) { w.Status = v }),
	duration("interval", "", "Time between two looks at a file, an address or a port; the first come more quickly.", func(w *Wait, v time.Duration) { w.Interval = v }).def("1000"),
).checked(checkWait)

var commandsObject = NewObject("commands", "One command for each platform.",
	text("default", "S1-026", "Command where no platform's own is given.", func(c *Commands, v Text) { c.Default = &v }),
	nested("platforms", "S1-027", platformsObject, "Commands of single platforms.", func(c *Commands) *Commands { return c }),
).checked(checkCommands)

var platformsObject = NewObject("platforms", "Commands by platform.",
	text("windows", "S1-027", "Command on Windows.", func(c *Commands, v Text) { c.Platforms["windows"] = v }),
	text("linux", "S1-027", "Command on Linux.", func(c *Commands, v Text) { c.Platforms["linux"] = v }),
	text("macos", "S1-027", "Command on macOS.", func(c *Commands, v Text) { c.Platforms["macos"] = v }),
)

var errorHandlingObject = NewObject("error-handling", "What is done about a failure.",
	nested("retry", "S1-037", retryObject, "Trying again.", func(e *ErrorHandling) *Retry {
		e.Retry = &Retry{Delay: time.Second, Backoff: "exponential", Jitter: "none"}
		return e.Retry
	}),
	text("fallback", "S1-039", "Command that runs once after the last try failed.", func(e *ErrorHandling, v Text) { e.Fallback = &v }),
)

var retryObject = NewObject("retry", "How a failed step is tried again.",
	integer("attempts", "S1-037", 0, 1000, "Retries after the first try.", func(r *Retry, v int) { r.Attempts = v }).required(),
	duration("delay", "S1-038", "Wait before the first retry.", func(r *Retry, v time.Duration) { r.Delay = v }).def("1000"),
	choice("backoff", "S1-073", []string{"exponential", "linear", "constant"}, "How the wait grows from retry to retry.", func(r *Retry, v string) { r.Backoff = v }).def("exponential"),
	duration("max-delay", "S1-073", "Bound on the wait.", func(r *Retry, v time.Duration) { r.MaxDelay = v }),
	choice("jitter", "S1-073", []string{"none", "full"}, "Whether the wait is drawn at random.", func(r *Retry, v string) { r.Jitter = v }).def("none"),
	integers("exit-codes", "", 0, 255, "Exit codes that are retried; all where absent.", func(r *Retry, v []int) { r.ExitCodes = v }),
	integers("not-exit-codes", "", 0, 255, "Exit codes that are never retried.", func(r *Retry, v []int) { r.NotExitCodes = v }),
	text("when", "", "Condition over the last try under which it is retried.", func(r *Retry, v Text) { r.When = &v }),
).checked(checkRetry)

var cacheObject = NewObject("cache", "What a step depends on and what it makes. Its command and the environment of the definition always count.",
	texts("inputs", "", "Files the step reads: paths, folders or patterns.", func(c *Cache, v []Text) { c.Inputs = v }),
	texts("outputs", "", "Files the step makes, kept and put back: paths, folders or patterns, below the working directory.", func(c *Cache, v []Text) { c.Outputs = v }),
	texts("env", "", "Names of inherited environment variables that count.", func(c *Cache, v []Text) { c.Env = v }),
	text("key", "", "A text that counts as well, such as a version.", func(c *Cache, v Text) { c.Key = &v }),
	duration("ttl", "", "How long a result may be used; for ever where absent.", func(c *Cache, v time.Duration) { c.TTL = v }),
).checked(checkCache)

var scheduleObject = NewObject("a schedule", "When the service runs the tool by itself, and what with.",
	text("cron", "", "Cron expression, as in 0 7 * * 1-5; one of cron and every.", func(s *Schedule, v Text) { s.Cron = &v }),
	placed(duration("every", "", "Time from one slot to the next, at least 1s; one of cron and every.", func(s *Schedule, v time.Duration) { s.Every = v }),
		func(s *Schedule) *Pos { return &s.EveryPos }),
	text("name", "", "Name of the schedule; the tool's where absent, with #2, #3 and so on for further ones.", func(s *Schedule, v Text) { s.Name = &v }),
	text("timezone", "", "Time zone that cron expressions, start and end are read in, as in Europe/Zurich; the machine's where absent.", func(s *Schedule, v Text) { s.Timezone = &v }),
	valueMap("params", "", "Parameters of the runs. They are data: references are not looked for.", func(s *Schedule, v []Entry) { s.Params = v }),
	choice("overlap", "", overlaps, "What becomes of a slot while a run of the schedule is under way.", func(s *Schedule, v string) { s.Overlap = v }).def("skip"),
	catchUp(),
	duration("jitter", "", "Spreads runs over this time after their slot.", func(s *Schedule, v time.Duration) { s.Jitter = v }),
	text("start", "", "First moment that may be a slot: a date, or a time as in 2026-12-01T08:00:00Z. Slots of every are counted from it.", func(s *Schedule, v Text) { s.Start = &v }),
	text("end", "", "Moment from which there are no more slots.", func(s *Schedule, v Text) { s.End = &v }),
	boolean("skip-if-successful", "", "Leaves a slot out where a run of the schedule has succeeded since the slot before.", func(s *Schedule, v bool) { s.SkipIfSuccessful = v }).def("false"),
).checked(checkSchedule)

var catchUpObject = NewObject("catch-up", "What becomes of slots that passed while no service was there.",
	choice("mode", "", catchUps, "None of them runs, one run makes up for all, or each runs.", func(c *CatchUp, v string) { c.Mode = v }).def("once"),
	duration("window", "", "How late a slot may be made up for; without bound where absent.", func(c *CatchUp, v time.Duration) { c.Window = v }),
	integer("max", "", 1, 100, "How many slots mode all makes up for at most, the newest ones.", func(c *CatchUp, n int) { c.Max = n }).def("100"),
)

// catchUp is a section, or its mode alone.
func catchUp() Field {
	f := nested("catch-up", "", catchUpObject, "What becomes of slots that passed while no service was there: a mode, or a mapping with bounds.", func(s *Schedule) *CatchUp { return &s.CatchUp })
	f.Kind, f.Enum = KindChoiceOrObject, catchUps
	full := f.set
	f.set = func(d *decoder, into any, n *yaml.Node) {
		if n = deref(n); n.Kind == yaml.MappingNode && !isHole(n) {
			full(d, into, n)
		} else if word, ok := oneOf(catchUps)(d, n); ok {
			into.(*Schedule).CatchUp.Mode = word
		}
	}
	return f
}

var outputObject = NewObject("output", "How the output of a step is captured.",
	choice("mode", "S1-043", []string{"buffer", "stream"}, "Whether output is shown while the step runs.", func(o *Output, v string) { o.Mode = v }).def("buffer"),
	size("buffer-limit", "S1-044", "How much of the output references and JSON see.", func(o *Output, v int64) { o.BufferLimit = v }).def("10MB"),
	boolean("truncation", "S1-045", "Whether longer output is cut; if not, the step fails.", func(o *Output, v bool) { o.Truncation = &v }).def("true"),
	streamCallbackField(),
	text("file", "S1-086", "File that streamed output goes to; the log file where absent.", func(o *Output, v Text) { o.File = &v }),
	texts("masked-values", "S1-047", "Values shown as *** wherever output is kept.", func(o *Output, v []Text) { o.MaskedValues = v }),
)

var environmentObject = NewObject("environment", "Environment variables.",
	textMap("variables", "S1-170", "Variables by name, with templates as values.", func(e *Environment, v []Entry) { e.Variables = v }),
	boolean("inherit", "S1-171", "Whether the variables of the calling process are passed on.", func(e *Environment, v bool) { e.Inherit = &v }).def("true"),
	mixed("secrets", "S1-172", secretObject, "Names of variables or parameters whose values are masked, and variables with a source for their value.",
		func(e *Environment) *Secret { return add(&e.Secrets, Secret{}) }, func(s *Secret, v Text) { s.Name = v }),
).checked(checkEnvironment)

var secretObject = NewObject("a secret", "A variable whose value is fetched when the run begins, and masked.",
	text("name", "S1-174", "Name of the variable.", func(s *Secret, v Text) { s.Name = v }).required(),
	text("env", "S1-174", "Variable of an env file, or of the calling process, that holds the value.", func(s *Secret, v Text) { s.Env = &v }),
	text("file", "S1-174", "File that holds the value; one line end after it is taken off.", func(s *Secret, v Text) { s.File = &v }),
	text("command", "S1-174", "Program and arguments, started without a shell, that prints the value.", func(s *Secret, v Text) { s.Command = &v }),
).checked(checkSecret)

var envFileObject = NewObject("an env file", "A file of environment variables.",
	text("path", "", "Path of the file.", func(f *EnvFile, v Text) { f.Path = v }).required(),
	boolean("optional", "", "Whether the file may be missing.", func(f *EnvFile, v bool) { f.Optional = v }).def("false"),
).checked(checkEnvFile)

var filePathsObject = NewObject("file-paths", "How paths are written and where temporary files go.",
	boolean("normalize", "S1-180", "Writes values of parameters with path: true the way of the platform: a//b/../c as a/c, ~ as the home directory.", func(f *FilePaths, v bool) { f.Normalize = v }).def("false"),
	text("working-directory", "S1-181", "Directory the steps run in, where the tool gives none.", func(f *FilePaths, v Text) { f.WorkingDirectory = &v }),
	text("temp-directory", "S1-182", "Directory that is made for the run and removed after it.", func(f *FilePaths, v Text) { f.TempDirectory = &v }),
	nested("cross-platform", "S1-183", crossPlatformObject, "Separators.", func(f *FilePaths) *FilePaths { return f }),
).checked(func(d *decoder, into any, n *yaml.Node, _ []*yaml.Node) { into.(*FilePaths).Pos = d.pos(n) })

var crossPlatformObject = NewObject("cross-platform", "Separators of paths.",
	choice("windows-separator", "S1-183", separators, "Separator on Windows.", func(f *FilePaths, v string) { f.WindowsSeparator = v }).def(`\`),
	choice("unix-separator", "S1-184", separators, "Separator elsewhere.", func(f *FilePaths, v string) { f.UnixSeparator = v }).def("/"),
	boolean("auto-convert", "S1-185", "Writes / and \\ in values of parameters with path: true as the platform's separator.", func(f *FilePaths, v bool) { f.AutoConvert = v }).def("false"),
)

var resourcesObject = NewObject("resources", "Limits and cleaning up.",
	duration("timeout", "S1-191", "Bound on the whole run; the smaller of this and the tool's timeout counts.", func(t *draft, v time.Duration) { t.resTimeout = &v }),
	size("max-memory", "S1-193", "Bound on the memory of each step; see isolation.md.", func(t *draft, v int64) { t.Resources.MaxMemory = v }),
	list("cleanup", "S1-194", cleanupObject, "What is done after the run, however it ended.", func(t *draft, _ Pos) *Resources { return &t.Resources }),
)

var cleanupObject = NewObject("cleanup", "One thing that is done after the run.",
	boolean("delete-temp-files", "S1-194", "Removes the temporary directory.", func(r *Resources, v bool) { r.DeleteTempFiles = v }),
	text("final-command", "S1-194", "Command that runs after the run.", func(r *Resources, v Text) { r.FinalCommands = append(r.FinalCommands, v) }),
)

var securityObject = NewObject("security", "What the tool may do.",
	choice("execution-privilege", "S1-210", []string{"same-as-user", "reduced", "elevated"}, "Rights the steps have; see isolation.md.", func(s *Security, v string) { s.ExecutionPrivilege = v }).def("same-as-user"),
	placed(choice("isolation", "S1-211", []string{"none", "process", "container"}, "What separates the steps from the system; see isolation.md.", func(s *Security, v string) { s.Isolation = v }).def("process"),
		func(s *Security) *Pos { return &s.IsolationPos }),
	imageField(),
	texts("required-permissions", "S1-212", "What the tool needs, such as network:external:HOST. Declared for those who decide; a container has a network only with one for it.", func(s *Security, v []Text) { s.RequiredPermissions = v }),
	words("justification", "S1-213", "Why it needs that.", func(s *Security, v string) { s.Justification = v }),
)

var metadataObject = NewObject("metadata", "How the tool is found.",
	words("category", "S1-220", "Category.", func(m *Metadata, v string) { m.Category = v }),
	words("subcategory", "S1-221", "Subcategory.", func(m *Metadata, v string) { m.Subcategory = v }),
	wordList("tags", "S1-222", "Tags for searching; they say nothing about rights.", func(m *Metadata, v []string) { m.Tags = v }),
	wordList("search-keywords", "S1-223", "Further words the tool is found by.", func(m *Metadata, v []string) { m.SearchKeywords = v }),
)

var interactiveObject = NewObject("interactive-options", "Questions of an interactive tool.",
	duration("timeout", "S1-202", "How long to wait for an answer.", func(i *InteractiveOptions, v time.Duration) { i.Timeout = v }),
	text("default-response", "S1-203", "Answer that is taken when none came.", func(i *InteractiveOptions, v Text) { i.DefaultResponse = &v }),
)

var functionCallingObject = NewObject("function-calling", "How the tool is shown to models.",
	nested("schema-generation", "S1-230", schemaObject, "What the schema of the parameters holds.", func(f *FunctionCalling) *FunctionCalling { return f }),
)

var schemaObject = NewObject("schema-generation", "What the schema of the parameters holds.",
	nested("parameter-mapping", "S1-230", mappingObject, "Types of parameters to types of JSON Schema.", func(f *FunctionCalling) *FunctionCalling { return f }),
	boolean("include-descriptions", "S1-231", "Includes descriptions of parameters.", func(f *FunctionCalling, v bool) { f.IncludeDescriptions = &v }).def("true"),
	boolean("include-defaults", "S1-232", "Includes default values.", func(f *FunctionCalling, v bool) { f.IncludeDefaults = &v }).def("true"),
	boolean("example-generation", "S1-233", "Includes examples.", func(f *FunctionCalling, v bool) { f.ExampleGeneration = &v }).def("false"),
	boolean("sanitize-schemas", "S1-234", "Keeps to what every model accepts.", func(f *FunctionCalling, v bool) { f.SanitizeSchemas = &v }).def("true"),
)

var mappingObject = NewObject("parameter-mapping", "Types of parameters to types of JSON Schema.",
	mapped("string"), mapped("number"), mapped("boolean"), mapped("array"), mapped("object"),
)

// mapped is the type of JSON Schema that a type of parameters is shown as.
func mapped(typ string) Field {
	return choice(typ, "S1-230", jsonTypes, "What the type "+typ+" is shown as.", func(f *FunctionCalling, v string) {
		if f.ParameterMapping == nil {
			f.ParameterMapping = map[string]string{}
		}
		f.ParameterMapping[typ] = v
	}).def(typ)
}

var notifyObject = NewObject("a notification", "A command, or an address, that is told how runs end.",
	choices("on", "", NotifyEvents, "What it is told of; failure, recovery and waiting where absent.", func(n *Notify, v []string) { n.On = v }),
	text("command", "", "Program and arguments, started without a shell, with the run as JSON on its standard input.", func(n *Notify, v Text) { n.Command = &v }).body(),
	text("webhook", "", "Address that the run is posted to; ${NAME} in it is an environment variable.", func(n *Notify, v Text) { n.Webhook = &v }).body(),
	text("secret-env", "", "Environment variable that holds the secret to sign posts with.", func(n *Notify, v Text) { n.SecretEnv = &v }),
	text("secret-file", "", "File that holds the secret to sign posts with.", func(n *Notify, v Text) { n.SecretFile = &v }),
).checked(checkNotify)

var changeObject = NewObject("a change", "What changed in one version.",
	text("version", "S1-014", "The version.", func(c *Change, v Text) { c.Version, c.Pos = v.S, v.Pos }),
	words("changes", "S1-014", "What changed.", func(c *Change, v string) { c.Changes = v }),
)

// parameterDraft is a Parameter being read. It is a type of its own so that a
// parameter's security section cannot be taken for the tool's.
type parameterDraft struct{ *Parameter }

var parameterObject = NewObject("a parameter", "One value the tool takes.",
	choice("type", "S1-091", typeNames, "Type of the value.", func(p *parameterDraft, v string) { p.Type = v }).def("string"),
	words("description", "S1-092", "What the value is for.", func(p *parameterDraft, v string) { p.Description = v }).required(),
	boolean("required", "S1-093", "Whether a caller must give it; a default satisfies it.", func(p *parameterDraft, v bool) { p.Required = v }).def("false"),
	value("default", "S1-094", "Value where a caller gives none; it may name other parameters.", func(p *parameterDraft, v Value) { p.Default = &v }),
	nested("validation", "S1-095", validationObject, "Rules for the value.", func(p *parameterDraft) *Validation { return &p.Validation }),
	text("transform", "S1-101", "Changes to the value before it is used: predefined transforms, or JavaScript over value.", func(p *parameterDraft, v Text) { p.Transform = &v }),
	text("format", "S1-102", "How the value stands in a command, with {value} in its place.", func(p *parameterDraft, v Text) { p.Format = &v }),
	text("delimiter", "S1-133", "What stands between elements of an array inside quotes.", func(p *parameterDraft, v Text) { p.Delimiter = &v }).def(" "),
	values("examples", "S1-103", "Example values.", func(p *parameterDraft, v []Value) { p.Examples = v }),
	words("detailed-help", "S1-104", "A longer description.", func(p *parameterDraft, v string) { p.DetailedHelp = v }),
	nested("security", "S1-105", parameterSecurityObject, "How the value enters a shell.", func(p *parameterDraft) *parameterDraft { return p }),
	boolean("allow-dash", "", "Allows values that begin with '-' where they may be read as an option.", func(p *parameterDraft, v bool) { p.AllowDash = v }).def("false"),
	boolean("path", "S1-180", "Whether the value, or each element of an array, is a path, which file-paths may rewrite.", func(p *parameterDraft, v bool) { p.Path = v }).def("false"),
	boolean("deprecated", "S1-017", "Whether the parameter should no longer be used.", func(p *parameterDraft, v bool) { p.Deprecated = v }).def("false"),
	words("deprecated-alternative", "S1-018", "The parameter to use instead.", func(p *parameterDraft, v string) { p.DeprecatedAlternative = v }),
).checked(checkParameter)

var parameterSecurityObject = NewObject("a parameter's security", "How the value enters a shell.",
	boolean("escape-shell", "S1-105", "Whether the value is data to the shell; if not, the shell reads it as code.", func(p *parameterDraft, v bool) { p.EscapeShell = &v }).def("true"),
)

var validationObject = NewObject("validation", "Rules for the value of a parameter.",
	integer("minLength", "S1-095", 0, 1<<31-1, "Least number of characters.", func(v *Validation, n int) { v.MinLength = &n }),
	integer("maxLength", "S1-096", 0, 1<<31-1, "Greatest number of characters.", func(v *Validation, n int) { v.MaxLength = &n }),
	text("pattern", "S1-097", "Regular expression (RE2) that is found in the text.", func(v *Validation, t Text) { v.Pattern = &t }),
	number("minimum", "S1-098", "Least number.", func(v *Validation, n float64) { v.Minimum = &n }),
	number("maximum", "S1-099", "Greatest number.", func(v *Validation, n float64) { v.Maximum = &n }),
	values("enum", "S1-100", "The values that are allowed.", func(v *Validation, all []Value) { v.Enum = all }),
)

var testObject = NewObject("a test", "One test of the tool.",
	words("name", "S1-240", "Name of the test.", func(t *Test, v string) { t.Name = v }).required(),
	words("description", "S1-241", "What it shows.", func(t *Test, v string) { t.Description = v }),
	valueMap("parameters", "S1-242", "Parameters of the run.", func(t *Test, v []Entry) { t.Parameters = v }),
	choices("platforms", "S1-249", platformNames, "Where the test runs; everywhere where absent.", func(t *Test, v []string) { t.Platforms = v }),
	texts("files", "", "Files and folders, by paths from the definition's folder, that are copied into the folder of the test.", func(t *Test, v []Text) { t.Files = v }),
	nested("expected", "S1-243", expectedObject, "What must hold after the run.", func(t *Test) *Expected { return &t.Expected }),
	texts("cleanup", "S1-248", "Commands that run after the test.", func(t *Test, v []Text) { t.Cleanup = v }),
).checked(checkTest)

var expectedObject = NewObject("expected", "What must hold after the run of a test.",
	integer("exit-code", "S1-243", 0, 255, "Exit code of the run.", func(e *Expected, v int) { e.ExitCode = &v }),
	texts("output-contains", "S1-244", "Texts that all stand in the output.", func(e *Expected, v []Text) { e.OutputContains = v }),
	texts("output-contains-any", "S1-245", "Texts of which one stands in the output.", func(e *Expected, v []Text) { e.OutputContainsAny = v }),
	text("output-equals", "", "The whole output, one line end after it left out.", func(e *Expected, v Text) { e.OutputEquals = &v }),
	text("output-matches", "", "Regular expression (RE2) that is found in the output.", func(e *Expected, v Text) { e.OutputMatches = &v }),
	texts("stderr-contains", "", "Texts that all stand in what the steps write to standard error.", func(e *Expected, v []Text) { e.StderrContains = v }),
	texts("file-exists", "S1-246", "Files that exist.", func(e *Expected, v []Text) { e.FileExists = v }),
	texts("directory-exists", "S1-247", "Directories that exist.", func(e *Expected, v []Text) { e.DirectoryExists = v }),
	textMap("steps", "", "States in which steps end, by the steps' names or paths.", func(e *Expected, v []Entry) { e.Steps = v }),
).checked(checkExpected)

// add appends v to a list and returns where it now stands, good until the next add.
func add[V any](to *[]V, v V) *V {
	*to = append(*to, v)
	return &(*to)[len(*to)-1]
}

func addPointer[V any](to *[]*V, v *V) *V {
	*to = append(*to, v)
	return v
}

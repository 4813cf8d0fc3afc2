package preview

// Form is how the text of a Fact is written.
type Form int

// The forms.
const (
	Plain  Form = iota // on the line of the words
	Quoted             // the same, in quotes
	Script             // on lines of its own, each after a vertical bar
)

// Wording is the words around a Fact, and the form of its text.
type Wording struct {
	Before string
	Form   Form
	After  string
}

// Fact is one thing that people should know of a tool or a step before it runs. Dry runs and the question whether a call may
// run print the same facts, so neither can lack what the other has.
type Fact struct {
	Name, Text string  // Name is that of a variable, "" for other facts
	Question   Wording // without Before, the question does not have the fact
	DryRun     Wording
	Many       string // the plural, for a fact that may be one of very many
	Warns      bool   // it deserves attention
}

type facts []Fact

// add adds a fact, unless the text is empty.
func (f *facts) add(text string, question, dryRun Wording) {
	if text != "" {
		*f = append(*f, Fact{Text: text, Question: question, DryRun: dryRun})
	}
}

// addAll adds one fact for each of the texts.
func (f *facts) addAll(texts []string, many string, question, dryRun Wording) {
	for _, text := range texts {
		*f = append(*f, Fact{Text: text, Question: question, DryRun: dryRun, Many: many})
	}
}

// Facts returns what is to be known of the tool in addition to its name, its place, its permissions and what is enforced.
func (t *PreviewTool) Facts() []Fact {
	var f facts
	f.addAll(t.Sources, "", Wording{Before: "secret", Form: Script}, Wording{Before: "uses the secret"})
	f.add(t.Privilege, Wording{}, Wording{Before: "has the rights", Form: Quoted}) // the question shows it beside the name
	f.add(t.Image, Wording{Before: "container", Form: Quoted}, Wording{Before: "runs in a container of", Form: Quoted})
	f.add(t.TempDirectory, Wording{Before: "temp folder", Form: Quoted}, Wording{Before: "makes its temporary directory in", Form: Quoted})
	f = append(f, t.Surroundings.facts()...)
	f.addAll(t.Cleanup, "", Wording{Before: "cleanup", Form: Script}, Wording{Before: "runs at the end:"})
	f.addAll(t.Notify, "", Wording{Before: "notifies", Form: Script}, Wording{Before: "notifies:"})
	f.add(t.RetryRun, Wording{}, Wording{Before: "retries a run"})
	return f
}

// Facts returns what is to be known of the step in addition to its name and its kind.
func (s *PreviewStep) Facts() []Fact {
	var f facts
	f.add(s.Handler, Wording{Before: "handler", Form: Quoted}, Wording{})
	f.add(s.Loop, Wording{Before: "for each of", Form: Quoted}, Wording{Before: "for each of"})
	f.addAll(s.Items, "items", Wording{Before: "item", Form: Quoted}, Wording{Before: "item", Form: Quoted})
	f.add(s.Repeat, Wording{Before: "repeats", Form: Quoted}, Wording{Before: "repeats"})
	f.add(s.Machine, Wording{Before: "on", Form: Quoted}, Wording{Before: "on"})
	f.addAll(s.Holds, "", Wording{Before: "holds", Form: Quoted}, Wording{Before: "holds"})
	f.add(s.Condition, Wording{Before: "only if", Form: Quoted}, Wording{Before: "if"})
	if s.Condition != "" {
		f = append(f, Fact{Text: s.Why, DryRun: Wording{Before: "   " + s.Verdict.String() + ":"}})
	}
	f = append(f, s.Surroundings.facts()...)
	if s.Interpreter != s.Kind {
		f.add(s.Interpreter, Wording{Before: "runs with", Form: Quoted}, Wording{Before: "runs with"})
	}
	f = append(f, Fact{Text: s.Command, Question: Wording{Before: "runs", Form: Script}, DryRun: Wording{Form: Script}})
	if s.FallbackInterpreter != s.Interpreter {
		f.add(s.FallbackInterpreter, Wording{Before: "fallback by", Form: Quoted}, Wording{Before: "fallback runs with"})
	}
	f.add(s.Fallback, Wording{Before: "fallback", Form: Script}, Wording{Before: "fallback:", Form: Script})
	return f
}

func (s Surroundings) facts() []Fact {
	var f facts
	if s.Runtime != "" {
		f = append(f, Fact{Text: s.Runtime, Warns: true,
			Question: Wording{"runtime", Quoted, ", outside the sandbox: it can do everything that you can"}, DryRun: Wording{"runs with", Plain, ", outside the sandbox"}})
	}
	f.addAll(s.Container, "", Wording{Before: "container", Form: Quoted}, Wording{Before: "container:"})
	f.add(s.WorkingDirectory, Wording{Before: "directory", Form: Quoted}, Wording{Before: "starts in", Form: Quoted})
	if s.CleanEnvironment {
		f.add("no variables", Wording{Before: "inherits"}, Wording{Before: "inherits"})
	}
	for _, v := range s.Environment {
		one := Fact{Name: v.Name, Text: v.Value, Question: Wording{Before: "sets", Form: Quoted}, DryRun: Wording{Before: "sets", Form: Quoted}, Many: "variables"}
		if v.RunsCode {
			one.Warns, one.Many, one.Question.After, one.DryRun.After = true, "", " (makes programs run code)", " (can make programs execute code)"
		}
		f = append(f, one)
	}
	f.addAll(s.EnvFiles, "", Wording{Before: "env file", Form: Quoted}, Wording{Before: "reads the env file", Form: Quoted})
	f.addAll(s.Artifacts, "", Wording{Before: "keeps", Form: Quoted}, Wording{Before: "keeps"})
	f.add(s.Input, Wording{Before: "input", Form: Script}, Wording{Before: "has the input", Form: Quoted})
	if s.Interactive {
		f.add("your terminal", Wording{Before: "reads from"}, Wording{Before: "reads from"})
	}
	f.add(s.DefaultResponse, Wording{Before: "answers", Form: Quoted}, Wording{Before: "answers questions with", Form: Quoted})
	f.add(s.OutputFile, Wording{Before: "output file", Form: Quoted}, Wording{Before: "writes its output to", Form: Quoted})
	if s.Detached {
		f.add("processes in the background", Wording{Before: "leaves"}, Wording{Before: "leaves"})
	}
	return f
}

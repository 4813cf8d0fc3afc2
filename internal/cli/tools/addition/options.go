package addition

import (
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/cli/ui"
)

// This file has the table of the options of flowrun tool add. The parser, the help page, completion
// and did-you-mean suggestions all use it, so every option must be listed here.

// owner is what an option belongs to.
type owner int

const (
	ofTool    owner = iota // the definition
	OfStep                 // the last step
	OfTest                 // the last test
	ofCommand              // the command line itself
)

// form is the syntax of a value, and how it appears in the definition.
type form int

const (
	textForm       form = iota
	listForm            // an item of a list; the option may be repeated
	textOrListForm      // text, or a list if the option is repeated
	commaForm           // a list, separated by commas
	choiceForm          // one of the option's words
	choicesForm         // an item of a list, one of the option's words; the option may be repeated
	integerForm         // a whole number
	numberForm          // a number
	booleanForm         // true or false
	durationForm        // milliseconds, or text such as 5s
	typedForm           // a value of the parameter's type
	typedList           // an item of a list, of the parameter's type
	typedCommas         // a list of values of the parameter's type, separated by commas
	pairForm            // NAME=VALUE
	trueForm            // no value: the key becomes true
	parserForm          // handled by the parser: starts a step, parameter or test, or is not part of the definition
)

// addOption is one option.
type addOption struct {
	Name    string   // without dashes
	short   string   // one letter, or ""
	Values  []string // names of its values, as the help shows them
	Owner   owner
	form    form
	key     string   // key in the definition
	words   []string // choices
	Section string   // section of the help page
	Help    string
}

// Left returns the option as the help shows it.
func (o *addOption) Left() string {
	words := []string{"--" + o.Name}
	if o.short != "" {
		words[0] += ", -" + o.short
	}
	return strings.Join(append(words, o.Values...), " ")
}

var levels = []string{"same-as-user", "reduced", "elevated"}

const (
	sectionTool     = "TOOL DEFINITION"
	sectionPlatform = "PLATFORM-SPECIFIC COMMANDS"
	sectionSteps    = "MULTI-STEP TOOLS"
	sectionParams   = "PARAMETERS"
	sectionSecurity = "SECURITY AND ENVIRONMENT"
	sectionTesting  = "TESTING"
	sectionMore     = "ADDITIONAL OPTIONS"
)

// Options returns the options of flowrun tool add, in the order of its help.
func Options() []addOption { return options }

var options = []addOption{
	{Name: "description", Values: []string{`"DESC"`}, key: "description", Section: sectionTool, Help: "Human-readable description of the tool (required)"},
	{Name: "from-file", Values: []string{`"PATH"`}, Owner: ofCommand, form: parserForm, Section: sectionTool, Help: "Load tool definition from a YAML file; TOOL_NAME, if given, becomes its name"},
	{Name: "editor", Owner: ofCommand, form: parserForm, Section: sectionTool, Help: "Open definition in default editor"},
	{Name: "bash", Values: []string{`"COMMAND"`}, key: "bash", Section: sectionTool, Help: "Define a Bash command to execute"},
	{Name: "cmd", Values: []string{`"COMMAND"`}, key: "cmd", Section: sectionTool, Help: "Define a Windows CMD command to execute"},
	{Name: "pwsh", Values: []string{`"COMMAND"`}, key: "pwsh", Section: sectionTool, Help: "Define a PowerShell command to execute"},
	{Name: "sh", Values: []string{`"COMMAND"`}, key: "sh", Section: sectionTool, Help: "Define a POSIX shell command to execute"},
	{Name: "python", Values: []string{`"CODE"`}, key: "python", Section: sectionTool, Help: "Define Python code to execute"},
	{Name: "js", Values: []string{`"CODE"`}, key: "js", Section: sectionTool, Help: "Define JavaScript code to execute"},
	{Name: "run", Values: []string{`"COMMAND"`}, key: "run", Section: sectionTool, Help: "Define a direct command to execute"},
	{Name: "script", Values: []string{`"SCRIPT"`}, key: "script", Section: sectionTool, Help: "Define script content (use with --shell)"},
	{Name: "shell", Values: []string{`"SHELL"`}, key: "shell", Section: sectionTool, Help: "Shell to use with script"},

	{Name: "command-default", Values: []string{`"COMMAND"`}, key: "commands.default", Section: sectionPlatform, Help: "Default command for all platforms"},
	{Name: "command-windows", Values: []string{`"COMMAND"`}, key: "commands.platforms.windows", Section: sectionPlatform, Help: "Windows-specific command"},
	{Name: "command-linux", Values: []string{`"COMMAND"`}, key: "commands.platforms.linux", Section: sectionPlatform, Help: "Linux-specific command"},
	{Name: "command-macos", Values: []string{`"COMMAND"`}, key: "commands.platforms.macos", Section: sectionPlatform, Help: "macOS-specific command"},

	{Name: "step", Values: []string{"NAME", `"COMMAND"`}, form: parserForm, Section: sectionSteps, Help: "Define a step (can be used multiple times)"},
	{Name: "continue-on-error", Owner: OfStep, form: trueForm, key: "continue-on-error", Section: sectionSteps, Help: "Continue to next step even if this step fails"},
	{Name: "run-condition", Values: []string{`"CONDITION"`}, Owner: OfStep, key: "run-condition", Section: sectionSteps, Help: "Condition for when to run this step"},
	{Name: "parallel", Owner: OfStep, form: trueForm, key: "parallel", Section: sectionSteps, Help: "Run this step in parallel with previous steps"},
	{Name: "wait-for", Values: []string{`"STEP1,STEP2"`}, Owner: OfStep, form: commaForm, key: "wait-for", Section: sectionSteps, Help: "Steps to wait for before running this step"},
	{Name: "retry-attempts", Values: []string{"N"}, Owner: OfStep, form: integerForm, key: "error-handling.retry.attempts", Section: sectionSteps, Help: "Number of retry attempts"},
	{Name: "retry-delay", Values: []string{"MS"}, Owner: OfStep, form: durationForm, key: "error-handling.retry.delay", Section: sectionSteps, Help: "Delay in milliseconds between retries"},
	{Name: "fallback", Values: []string{`"COMMAND"`}, Owner: OfStep, key: "error-handling.fallback", Section: sectionSteps, Help: "Command to run if all retries fail"},
	{Name: "output-mode", Values: []string{"buffer|stream"}, Owner: OfStep, form: choiceForm, words: []string{"buffer", "stream"}, key: "output.mode", Section: sectionSteps, Help: "Output mode"},
	{Name: "output-buffer-limit", Values: []string{"SIZE"}, Owner: OfStep, key: "output.buffer-limit", Section: sectionSteps, Help: "Maximum buffer size"},
	{Name: "step-command-default", Values: []string{"NAME", `"COMMAND"`}, form: parserForm, key: "commands.default", Section: sectionSteps, Help: "Default command for all platforms"},
	{Name: "step-command-windows", Values: []string{"NAME", `"COMMAND"`}, form: parserForm, key: "commands.platforms.windows", Section: sectionSteps, Help: "Windows-specific command of a step"},
	{Name: "step-command-linux", Values: []string{"NAME", `"COMMAND"`}, form: parserForm, key: "commands.platforms.linux", Section: sectionSteps, Help: "Linux-specific command of a step"},
	{Name: "step-command-macos", Values: []string{"NAME", `"COMMAND"`}, form: parserForm, key: "commands.platforms.macos", Section: sectionSteps, Help: "macOS-specific command of a step"},

	{Name: "parameter", Values: []string{"NAME", `"DESC"`, "[options]"}, form: parserForm, Section: sectionParams, Help: "Define a parameter (can be used multiple times)"},

	{Name: "security-privilege", Values: []string{"LEVEL"}, form: choiceForm, words: levels, key: "security.execution-privilege", Section: sectionSecurity, Help: "Execution privilege level (same-as-user|reduced|elevated)"},
	{Name: "security-isolation", Values: []string{"LEVEL"}, form: choiceForm, words: []string{"none", "process", "container"}, key: "security.isolation", Section: sectionSecurity, Help: "Isolation level (none|process|container)"},
	{Name: "security-permission", Values: []string{"PERM"}, form: listForm, key: "security.required-permissions", Section: sectionSecurity, Help: "Required permission (can be used multiple times)"},
	{Name: "env-var", Values: []string{"NAME=VALUE"}, form: pairForm, key: "environment.variables", Section: sectionSecurity, Help: "Environment variable (can be used multiple times)"},
	{Name: "inherit-env", Values: []string{"true|false"}, form: booleanForm, key: "environment.inherit", Section: sectionSecurity, Help: "Whether to inherit parent environment"},

	{Name: "test", Values: []string{"NAME", `"DESC"`}, form: parserForm, Section: sectionTesting, Help: "Define a test (can be used multiple times)"},
	{Name: "test-param", Values: []string{"NAME=VALUE"}, Owner: OfTest, form: pairForm, key: "parameters", Section: sectionTesting, Help: "Parameter for the test"},
	{Name: "expect-exit-code", Values: []string{"N"}, Owner: OfTest, form: integerForm, key: "expected.exit-code", Section: sectionTesting, Help: "Expected exit code"},
	{Name: "expect-output", Values: []string{`"TEXT"`}, Owner: OfTest, form: textOrListForm, key: "expected.output-contains", Section: sectionTesting, Help: "Expected output text"},
	{Name: "expect-file-exists", Values: []string{`"PATH"`}, Owner: OfTest, form: textOrListForm, key: "expected.file-exists", Section: sectionTesting, Help: "Expected file to exist"},
	{Name: "cleanup", Values: []string{`"COMMAND"`}, Owner: OfTest, form: listForm, key: "cleanup", Section: sectionTesting, Help: "Cleanup command to run after test"},

	{Name: "platform", Values: []string{"PLATFORM"}, form: choicesForm, words: Platforms(), key: "platforms", Section: sectionMore, Help: "Supported platform (windows|linux|macos)"},
	{Name: "tag", Values: []string{"TAG"}, form: listForm, key: "tags", Section: sectionMore, Help: "Tag for categorization"},
	{Name: "timeout", Values: []string{"MILLISECONDS"}, form: durationForm, key: "timeout", Section: sectionMore, Help: "Default timeout"},
	{Name: "working-directory", Values: []string{"DIR"}, key: "working-directory", Section: sectionMore, Help: "Working directory"},
	{Name: "input", Values: []string{`"INPUT"`}, key: "input", Section: sectionMore, Help: "Data to pass via stdin"},
	{Name: "override", Owner: ofCommand, form: parserForm, Section: sectionMore, Help: "Replace a tool of this name in the scope"},
	{Name: "dry-run", Owner: ofCommand, form: parserForm, Section: sectionMore, Help: "Print the definition, check it and write nothing"},

	{Name: "global", short: "g", Owner: ofCommand, form: parserForm},
	{Name: "user", short: "u", Owner: ofCommand, form: parserForm},
	{Name: "local", short: "l", Owner: ofCommand, form: parserForm},
	{Name: "any", short: "a", Owner: ofCommand, form: parserForm},
	{Name: "scope", Values: []string{"SCOPE"}, Owner: ofCommand, form: parserForm, words: ui.ScopeWords()},
	{Name: "help", short: "h", Owner: ofCommand, form: parserForm},
}

// ParameterOptions returns the keys of the words KEY=VALUE after --parameter NAME DESC. type is
// first, because other values are parsed according to it.
func ParameterOptions() []addOption { return parameterOptions }

var parameterOptions = []addOption{
	{Name: "type", Values: []string{"string|number|boolean|array|object"}, form: choiceForm, words: []string{"string", "number", "boolean", "array", "object"}, key: "type", Help: "Parameter type"},
	{Name: "required", Values: []string{"true|false"}, form: booleanForm, key: "required", Help: "Whether parameter is required"},
	{Name: "default", Values: []string{"VALUE"}, form: typedForm, key: "default", Help: "Default value if not provided"},
	{Name: "min-length", Values: []string{"N"}, form: integerForm, key: "validation.minLength", Help: "Minimum length (for strings)"},
	{Name: "max-length", Values: []string{"N"}, form: integerForm, key: "validation.maxLength", Help: "Maximum length (for strings)"},
	{Name: "pattern", Values: []string{"REGEX"}, key: "validation.pattern", Help: "Regex pattern (for strings)"},
	{Name: "min", Values: []string{"N"}, form: numberForm, key: "validation.minimum", Help: "Minimum value (for numbers)"},
	{Name: "max", Values: []string{"N"}, form: numberForm, key: "validation.maximum", Help: "Maximum value (for numbers)"},
	{Name: "enum", Values: []string{"VALUE1,VALUE2"}, form: typedCommas, key: "validation.enum", Help: "Allowed values"},
	{Name: "transform", Values: []string{"FUNCTION"}, key: "transform", Help: "Transform function to apply"},
	{Name: "format", Values: []string{"FORMAT"}, key: "format", Help: "How parameter appears in command"},
	{Name: "example", Values: []string{"EXAMPLE"}, form: typedList, key: "examples", Help: "Example value (can be used multiple times)"},
	{Name: "escape-shell", Values: []string{"true|false"}, form: booleanForm, key: "security.escape-shell", Help: "Whether to escape shell metacharacters"},
}

// optionNamed returns the option with a name, or nil.
func optionNamed(table []addOption, name string) *addOption {
	i := slices.IndexFunc(table, func(o addOption) bool { return o.Name == name })
	if i < 0 {
		return nil
	}
	return &table[i]
}

// optionOf returns the option that a word starts, and the value after '=' in the same word. It
// returns nil if the word is not an option.
func optionOf(word string) (o *addOption, value string, hasValue bool) {
	if name, ok := strings.CutPrefix(word, "--"); ok {
		name, value, hasValue = strings.Cut(name, "=")
		return optionNamed(options, name), value, hasValue
	}
	for i := range options {
		if o := &options[i]; o.short != "" && word == "-"+o.short {
			return o, "", false
		}
	}
	return nil, "", false
}

// Names returns the names of the options, without dashes.
func Names(table []addOption) []string {
	names := make([]string, len(table))
	for i, o := range table {
		names[i] = o.Name
	}
	return names
}

// Platforms returns the platforms that a definition can name.
func Platforms() []string { return []string{"windows", "linux", "macos"} }

package cli

import (
	"slices"
	"strings"
)

// This file is the table of the options of flowrun tool add. Its parser walks it, and
// the help page, completion and did-you-mean are made from it. An option that is not
// here does not exist.

// owner is what an option belongs to.
type owner int

const (
	ofTool    owner = iota // the definition
	ofStep                 // the step named last
	ofTest                 // the test named last
	ofCommand              // the command line itself
)

// form is what a value must be, and what it becomes in the definition.
type form int

const (
	textForm    form = iota
	listForm         // a text in a list; the option may be repeated
	fewForm          // a text, or a list where the option is repeated
	commaForm        // several texts, with commas between them
	choiceForm       // one of the option's words
	choicesForm      // the same, in a list
	integerForm      // a whole number
	numberForm       // a number
	booleanForm      // true or false
	spanForm         // milliseconds, or text such as 5s
	typedForm        // of the parameter's type
	typedList        // of the parameter's type, in a list
	typedCommas      // several of the parameter's type, with commas between them
	pairForm         // NAME=VALUE
	trueForm         // no value: the key becomes true
	actForm          // done by the parser: begins a step, a parameter, a test, or is no part of the definition
)

// addOption is one option.
type addOption struct {
	name    string   // without the dashes
	short   string   // one letter, or none
	values  []string // what it takes, as the help shows it
	owner   owner
	form    form
	key     string   // in the definition
	words   []string // of choices
	section string   // of the help page
	help    string
}

// left is the option as the help shows it.
func (o *addOption) left() string {
	words := []string{"--" + o.name}
	if o.short != "" {
		words[0] += ", -" + o.short
	}
	return strings.Join(append(words, o.values...), " ")
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

var addOptions = []addOption{
	{name: "description", values: []string{`"DESC"`}, key: "description", section: sectionTool, help: "Human-readable description of the tool (required)"},
	{name: "from-file", values: []string{`"PATH"`}, owner: ofCommand, form: actForm, section: sectionTool, help: "Load tool definition from a YAML file; TOOL_NAME, if given, becomes its name"},
	{name: "editor", owner: ofCommand, form: actForm, section: sectionTool, help: "Open definition in default editor"},
	{name: "bash", values: []string{`"COMMAND"`}, key: "bash", section: sectionTool, help: "Define a Bash command to execute"},
	{name: "cmd", values: []string{`"COMMAND"`}, key: "cmd", section: sectionTool, help: "Define a Windows CMD command to execute"},
	{name: "pwsh", values: []string{`"COMMAND"`}, key: "pwsh", section: sectionTool, help: "Define a PowerShell command to execute"},
	{name: "run", values: []string{`"COMMAND"`}, key: "run", section: sectionTool, help: "Define a direct command to execute"},
	{name: "script", values: []string{`"SCRIPT"`}, key: "script", section: sectionTool, help: "Define script content (use with --shell)"},
	{name: "shell", values: []string{`"SHELL"`}, key: "shell", section: sectionTool, help: "Shell to use with script"},

	{name: "command-default", values: []string{`"COMMAND"`}, key: "commands.default", section: sectionPlatform, help: "Default command for all platforms"},
	{name: "command-windows", values: []string{`"COMMAND"`}, key: "commands.platforms.windows", section: sectionPlatform, help: "Windows-specific command"},
	{name: "command-linux", values: []string{`"COMMAND"`}, key: "commands.platforms.linux", section: sectionPlatform, help: "Linux-specific command"},
	{name: "command-macos", values: []string{`"COMMAND"`}, key: "commands.platforms.macos", section: sectionPlatform, help: "macOS-specific command"},

	{name: "step", values: []string{"NAME", `"COMMAND"`}, form: actForm, section: sectionSteps, help: "Define a step (can be used multiple times)"},
	{name: "continue-on-error", owner: ofStep, form: trueForm, key: "continue-on-error", section: sectionSteps, help: "Continue to next step even if this step fails"},
	{name: "run-condition", values: []string{`"CONDITION"`}, owner: ofStep, key: "run-condition", section: sectionSteps, help: "Condition for when to run this step"},
	{name: "parallel", owner: ofStep, form: trueForm, key: "parallel", section: sectionSteps, help: "Run this step in parallel with previous steps"},
	{name: "wait-for", values: []string{`"STEP1,STEP2"`}, owner: ofStep, form: commaForm, key: "wait-for", section: sectionSteps, help: "Steps to wait for before running this step"},
	{name: "retry-attempts", values: []string{"N"}, owner: ofStep, form: integerForm, key: "error-handling.retry.attempts", section: sectionSteps, help: "Number of retry attempts"},
	{name: "retry-delay", values: []string{"MS"}, owner: ofStep, form: spanForm, key: "error-handling.retry.delay", section: sectionSteps, help: "Delay in milliseconds between retries"},
	{name: "fallback", values: []string{`"COMMAND"`}, owner: ofStep, key: "error-handling.fallback", section: sectionSteps, help: "Command to run if all retries fail"},
	{name: "output-mode", values: []string{"buffer|stream"}, owner: ofStep, form: choiceForm, words: []string{"buffer", "stream"}, key: "output.mode", section: sectionSteps, help: "Output mode"},
	{name: "output-buffer-limit", values: []string{"SIZE"}, owner: ofStep, key: "output.buffer-limit", section: sectionSteps, help: "Maximum buffer size"},
	{name: "step-command-default", values: []string{"NAME", `"COMMAND"`}, form: actForm, key: "commands.default", section: sectionSteps, help: "Default command for all platforms"},
	{name: "step-command-windows", values: []string{"NAME", `"COMMAND"`}, form: actForm, key: "commands.platforms.windows", section: sectionSteps, help: "Windows-specific command of a step"},
	{name: "step-command-linux", values: []string{"NAME", `"COMMAND"`}, form: actForm, key: "commands.platforms.linux", section: sectionSteps, help: "Linux-specific command of a step"},
	{name: "step-command-macos", values: []string{"NAME", `"COMMAND"`}, form: actForm, key: "commands.platforms.macos", section: sectionSteps, help: "macOS-specific command of a step"},

	{name: "parameter", values: []string{"NAME", `"DESC"`, "[options]"}, form: actForm, section: sectionParams, help: "Define a parameter (can be used multiple times)"},

	{name: "security-privilege", values: []string{"LEVEL"}, form: choiceForm, words: levels, key: "security.execution-privilege", section: sectionSecurity, help: "Execution privilege level (same-as-user|reduced|elevated)"},
	{name: "security-isolation", values: []string{"LEVEL"}, form: choiceForm, words: []string{"none", "process", "container"}, key: "security.isolation", section: sectionSecurity, help: "Isolation level (none|process|container)"},
	{name: "security-permission", values: []string{"PERM"}, form: listForm, key: "security.required-permissions", section: sectionSecurity, help: "Required permission (can be used multiple times)"},
	{name: "env-var", values: []string{"NAME=VALUE"}, form: pairForm, key: "environment.variables", section: sectionSecurity, help: "Environment variable (can be used multiple times)"},
	{name: "inherit-env", values: []string{"true|false"}, form: booleanForm, key: "environment.inherit", section: sectionSecurity, help: "Whether to inherit parent environment"},

	{name: "test", values: []string{"NAME", `"DESC"`}, form: actForm, section: sectionTesting, help: "Define a test (can be used multiple times)"},
	{name: "test-param", values: []string{"NAME=VALUE"}, owner: ofTest, form: pairForm, key: "parameters", section: sectionTesting, help: "Parameter for the test"},
	{name: "expect-exit-code", values: []string{"N"}, owner: ofTest, form: integerForm, key: "expected.exit-code", section: sectionTesting, help: "Expected exit code"},
	{name: "expect-output", values: []string{`"TEXT"`}, owner: ofTest, form: fewForm, key: "expected.output-contains", section: sectionTesting, help: "Expected output text"},
	{name: "expect-file-exists", values: []string{`"PATH"`}, owner: ofTest, form: fewForm, key: "expected.file-exists", section: sectionTesting, help: "Expected file to exist"},
	{name: "cleanup", values: []string{`"COMMAND"`}, owner: ofTest, form: listForm, key: "cleanup", section: sectionTesting, help: "Cleanup command to run after test"},

	{name: "platform", values: []string{"PLATFORM"}, form: choicesForm, words: platforms, key: "platforms", section: sectionMore, help: "Supported platform (windows|linux|macos)"},
	{name: "tag", values: []string{"TAG"}, form: listForm, key: "tags", section: sectionMore, help: "Tag for categorization"},
	{name: "timeout", values: []string{"MILLISECONDS"}, form: spanForm, key: "timeout", section: sectionMore, help: "Default timeout"},
	{name: "working-directory", values: []string{"DIR"}, key: "working-directory", section: sectionMore, help: "Working directory"},
	{name: "input", values: []string{`"INPUT"`}, key: "input", section: sectionMore, help: "Data to pass via stdin"},
	{name: "override", owner: ofCommand, form: actForm, section: sectionMore, help: "Replace a tool of this name in the scope"},
	{name: "dry-run", owner: ofCommand, form: actForm, section: sectionMore, help: "Print the definition, check it and write nothing"},

	{name: "global", short: "g", owner: ofCommand, form: actForm},
	{name: "user", short: "u", owner: ofCommand, form: actForm},
	{name: "local", short: "l", owner: ofCommand, form: actForm},
	{name: "any", short: "a", owner: ofCommand, form: actForm},
	{name: "scope", values: []string{"SCOPE"}, owner: ofCommand, form: actForm, words: scopeWords},
	{name: "help", short: "h", owner: ofCommand, form: actForm},
}

// parameterOptions are the words KEY=VALUE after --parameter NAME DESC (S1-295). type
// comes first: the others are read by it.
var parameterOptions = []addOption{
	{name: "type", values: []string{"string|number|boolean|array|object"}, form: choiceForm, words: []string{"string", "number", "boolean", "array", "object"}, key: "type", help: "Parameter type"},
	{name: "required", values: []string{"true|false"}, form: booleanForm, key: "required", help: "Whether parameter is required"},
	{name: "default", values: []string{"VALUE"}, form: typedForm, key: "default", help: "Default value if not provided"},
	{name: "min-length", values: []string{"N"}, form: integerForm, key: "validation.minLength", help: "Minimum length (for strings)"},
	{name: "max-length", values: []string{"N"}, form: integerForm, key: "validation.maxLength", help: "Maximum length (for strings)"},
	{name: "pattern", values: []string{"REGEX"}, key: "validation.pattern", help: "Regex pattern (for strings)"},
	{name: "min", values: []string{"N"}, form: numberForm, key: "validation.minimum", help: "Minimum value (for numbers)"},
	{name: "max", values: []string{"N"}, form: numberForm, key: "validation.maximum", help: "Maximum value (for numbers)"},
	{name: "enum", values: []string{"VALUE1,VALUE2"}, form: typedCommas, key: "validation.enum", help: "Allowed values"},
	{name: "transform", values: []string{"FUNCTION"}, key: "transform", help: "Transform function to apply"},
	{name: "format", values: []string{"FORMAT"}, key: "format", help: "How parameter appears in command"},
	{name: "example", values: []string{"EXAMPLE"}, form: typedList, key: "examples", help: "Example value (can be used multiple times)"},
	{name: "escape-shell", values: []string{"true|false"}, form: booleanForm, key: "security.escape-shell", help: "Whether to escape shell metacharacters"},
}

// optionNamed is the option of a name in a table, nil for none.
func optionNamed(table []addOption, name string) *addOption {
	i := slices.IndexFunc(table, func(o addOption) bool { return o.name == name })
	if i < 0 {
		return nil
	}
	return &table[i]
}

// optionOf is the option that a word of the command line begins, and the value that
// stands in the same word after '='; nil for a word that is none.
func optionOf(word string) (o *addOption, value string, hasValue bool) {
	if name, ok := strings.CutPrefix(word, "--"); ok {
		name, value, hasValue = strings.Cut(name, "=")
		return optionNamed(addOptions, name), value, hasValue
	}
	for i := range addOptions {
		if o := &addOptions[i]; o.short != "" && word == "-"+o.short {
			return o, "", false
		}
	}
	return nil, "", false
}

func optionNames(table []addOption) []string {
	names := make([]string, len(table))
	for i, o := range table {
		names[i] = o.name
	}
	return names
}

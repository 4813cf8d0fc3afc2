package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// topic is a page of help that is about no command. Tests hold the tables in the pages
// against the code.
type topic struct {
	name, short string
	text        func() string
}

func topics() []topic {
	return []topic{
		{"exit-codes", "What the exit code says", exitCodesPage},
		{"environment", "Environment variables that flowrun reads and sets", environmentPage},
		{"formatting", "Forms of output, colour, progress", func() string { return formattingPage }},
		{"expressions", "What a run-condition can say", expressionsPage},
		{"parameters", "How values are given to a tool", func() string { return parametersPage }},
		{"substitution", "What {NAME} in a command stands for", func() string { return substitutionPage }},
	}
}

// topicCommands are commands that do nothing but have help: flowrun help NAME.
func topicCommands() []*cobra.Command {
	var list []*cobra.Command
	for _, t := range topics() {
		list = append(list, &cobra.Command{Use: t.name, Short: t.short, Long: t.text()})
	}
	return list
}

// entry is a line of a table in a page: a word and what it means.
type entry struct{ word, meaning string }

// aligned puts entries in two columns.
func aligned(list []entry) string {
	width := 0
	for _, e := range list {
		width = max(width, len(e.word))
	}
	var b strings.Builder
	for _, e := range list {
		indent := "\n" + strings.Repeat(" ", width+4)
		fmt.Fprintf(&b, "  %-*s  %s\n", width, e.word, strings.ReplaceAll(e.meaning, "\n", indent))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

var exitCodes = []entry{
	{"0", "all went well; where failures were tolerated, their number is in the status"},
	{"1", "the run failed, or tests did, or something else went wrong that is said"},
	{"2", "wrong usage: a flag, an argument, an unknown command, an ambiguous run"},
	{"3", "a definition is invalid"},
	{"4", "not found: a tool, a run, a step, a file that was named"},
	{"5", "refused: the run is live, the platform is another, a policy says no"},
	{"6", "parameters, or the environment they come from, are invalid"},
	{"7", "the run rests and waits for somebody; flowrun resume goes on with it"},
	{"8", "the service cannot be reached, or an address it is to have is taken"},
	{"70", "a bug in flowrun"},
	{"124", "the run took longer than its timeout"},
	{"130", "interrupted (Ctrl-C); the run can be resumed"},
	{"141", "the reader of flowrun's output has gone away"},
	{"143", "terminated (SIGTERM); the run can be resumed"},
}

func exitCodesPage() string {
	return "flowrun ends with one of these codes. They do not change from release to release.\n\n" +
		aligned(exitCodes) + "\n\n" +
		"run, resume and retry with -x (--exit-code) exit with the code of the step that made\n" +
		"the run fail, in the place of 1."
}

// variablesRead are the variables that change what flowrun does.
var variablesRead = []entry{
	{"FLOWRUN_STATE_DIR", "the folder of history, logs and cache\n(default: $XDG_STATE_HOME/flowrun, else ~/.local/state/flowrun;\non Windows in %LOCALAPPDATA%)"},
	{"FLOWRUN_GLOBAL_TOOLS", "the folder of the machine's tools (default: /etc/flowrun/tools)"},
	{"HOME", "your home directory (default: what the user database says)"},
	{"SUDO_UID", "root also believes tools and settings that belong to the user\nwho called sudo"},
	{"FLOWRUN_GLOBAL_CONFIG", "the machine's settings (default: /etc/flowrun/config.yaml);\nevery setting has a variable too, as FLOWRUN_HISTORY_KEEP for\nhistory.keep: flowrun config --help"},
	{"FLOWRUN_TOKEN", "what callers of flowrun serve must show; steps do not find it"},
	{"XDG_CONFIG_HOME", "holds flowrun/tools, your tools, and flowrun/config.yaml, your\nsettings (default: ~/.config)"},
	{"XDG_STATE_HOME", "holds flowrun, see FLOWRUN_STATE_DIR (default: ~/.local/state)"},
	{"LOCALAPPDATA", "the same, on Windows"},
	{"FLOWRUN_PROGRESS", "what --progress is where it is not given"},
	{"FLOWRUN_COLOR", "always or never: as --color says, which is stronger"},
	{"FLOWRUN_ACCESSIBLE", "1: nothing on the screen moves, no live view"},
	{"NO_COLOR", "not empty: no colour; weaker than FLOWRUN_COLOR"},
	{"FORCE_COLOR", "colour although the output is no terminal; 0 does not force"},
	{"CLICOLOR_FORCE", "as FORCE_COLOR"},
	{"CLICOLOR", "0: no colour that is not forced"},
	{"TERM", "dumb: no colour, and no live view"},
	{"CI", "where it is set nobody is asked, and there is no live view"},
	{"GITHUB_STEP_SUMMARY", "the file of the job's page, to which --progress github adds"},
	{"GITHUB_WORKSPACE", "the checkout, from which its annotations name files"},
	{"GITHUB_ACTIONS", "true: --progress github where nothing else is said"},
	{"VISUAL", "the editor of tool edit; else EDITOR"},
	{"EDITOR", "see VISUAL"},
	{"LC_ALL", "then LC_CTYPE, then LANG: drawings keep to ASCII\nunless it says UTF-8"},
	{"LC_CTYPE", "see LC_ALL"},
	{"LANG", "see LC_ALL"},
	{"PATH", "where programs are looked for"},
	{"TZ", "the time zone of schedules that name none, and of times shown"},
	{"TMPDIR", "the folder for temporary files, and what {TEMP} stands for"},
	{"TRACEPARENT", "the span that a run is part of (W3C trace context); with it\nTRACESTATE"},
	{"TRACESTATE", "see TRACEPARENT"},
	{"GOMAXPROCS", "how many CPUs flowrun itself works on (default: 1, for\nserve all of them; steps take what they want)"},
}

// variablesOfTraces are OpenTelemetry's, those of them that flowrun knows.
var variablesOfTraces = []entry{
	{"OTEL_EXPORTER_OTLP_ENDPOINT", "the collector, as http://HOST:4318; off\nwhere neither this nor the next is set"},
	{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "in its place, the whole URL for spans"},
	{"OTEL_EXPORTER_OTLP_HEADERS", "sent along: NAME=VALUE,NAME=VALUE"},
	{"OTEL_EXPORTER_OTLP_TRACES_HEADERS", "in its place"},
	{"OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf is the only one"},
	{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "in its place"},
	{"OTEL_SERVICE_NAME", "what flowrun is called (flowrun)"},
	{"OTEL_RESOURCE_ATTRIBUTES", "more to say of it: NAME=VALUE,NAME=VALUE"},
	{"OTEL_TRACES_EXPORTER", "none: off"},
	{"OTEL_SDK_DISABLED", "true: off"},
}

// variablesSet are the variables that steps find.
var variablesSet = []entry{
	{"FLOWRUN_RUN", "the run's id"},
	{"FLOWRUN_STEP", "the step's path, as in setup/clone or test[3]"},
	{"FLOWRUN_ATTEMPT", "1 in the first try, 2 in the second, ..."},
	{"FLOWRUN_IDEMPOTENCY_KEY", "the same in every try and after resume, for services\nthat take one"},
	{"FLOWRUN_TEMP", "the run's own folder, where the tool has\nfile-paths.temp-directory; TMPDIR too"},
	{"TRACEPARENT", "the step's own span, where traces are sent"},
	{"TRACESTATE", "what came in with flowrun's own TRACEPARENT"},
	{"FLOWRUN_OWNER", "how flowrun knows processes of the run; leave it alone"},
}

// variablesTold are the variables that commands of notifications find.
var variablesTold = []entry{
	{"FLOWRUN_EVENT", "failure, recovery, success, waiting or cancelled"},
	{"FLOWRUN_MESSAGE", "what there is to tell, in one line"},
	{"FLOWRUN_RUN_ID", "the run"},
	{"FLOWRUN_TOOL", "its tool"},
	{"FLOWRUN_STATUS", "how it ended"},
	{"FLOWRUN_EXIT_CODE", "the exit code it is recorded with"},
}

func environmentPage() string {
	return "Variables that flowrun reads:\n\n" + aligned(variablesRead) +
		"\n\nSpans of runs are sent to a collector of OpenTelemetry where these say so:\n\n" + aligned(variablesOfTraces) +
		"\n\nVariables that a step finds, besides those of flowrun's own process and of the\ndefinition (environment, env-files):\n\n" + aligned(variablesSet) +
		"\n\nVariables that a command of notify finds:\n\n" + aligned(variablesTold)
}

const formattingPage = `Results go to stdout, everything else to stderr. So a pipe gets the result and nothing
but the result.

  -o text       what the tool says is its output (run); a page to read (show)
  -o table      columns (runs, ...), cut to the width of the terminal
  -o json       one document, with a name and version in its field "schema"
  -o jsonl      one document a line
  -o combined   the output of every step, under its name (run)

Fields of documents are only ever added. flowrun schema NAME prints the JSON Schema of
each. As in:

  flowrun run report -o json | jq -r '.steps[] | select(.status == "failed") | .id'
  flowrun runs -o jsonl | jq -r .id

The narration on stderr is --progress tty (a live view, on a terminal), plain (a line
for each change), json (events, one a line, and an error as the last), github (groups,
annotations and a page for GitHub Actions), quiet (failures only) or none. auto chooses
tty on a terminal, github where GITHUB_ACTIONS says so, else plain.

Colour is used on a terminal, for stdout and stderr apart, and never says anything that
is not there in words or signs too. flowrun help environment has the variables that
turn it on and off. Where the locale is not UTF-8, drawings keep to ASCII.`

// functionsHelp says what the functions are that a condition can call.
var functionsHelp = []entry{
	{"success()", "nothing that the step waits for went badly"},
	{"failure()", "something did"},
	{"cancelled()", "the run was cancelled"},
	{"always()", "true; the step runs after a cancel too"},
	{"len(x)", "how many elements, or characters"},
	{"int float string type", "of another type; the name of a type"},
	{"abs ceil floor round", "of a number"},
	{"max min sum mean median", "of numbers, or of a list of them"},
	{"lower upper trim trimPrefix trimSuffix", "of a text"},
	{"split splitAfter", "a text into a list"},
	{"hasPrefix hasSuffix indexOf lastIndexOf", "what is in a text"},
	{"all any one none count", "do elements satisfy it: all(list, # > 1)"},
	{"filter find findIndex", "those that do, the first, where it is"},
	{"findLast findLastIndex", "the last"},
	{"map groupBy sortBy", "with every element: map(list, #.name)"},
	{"first last take get reverse sort uniq", "of a list"},
	{"concat flatten", "lists into one"},
	{"keys values toPairs fromPairs", "of an object"},
	{"fromJSON toJSON fromBase64 toBase64", "to and from text"},
	{"duration", "a text such as 1m30s"},
	{"bitand bitor bitxor bitnand", "of whole numbers"},
	{"bitnot bitshl bitshr bitushr", "the same"},
}

func expressionsPage() string {
	return `A run-condition decides whether a step runs; retry.when, whether it is tried again.

  run-condition: "{build.exit-code} == 0 && {TARGET} != 'staging'"

Values stand in braces and are never text of the condition: whatever a step printed, it
is only compared. The steps' fields are output, error, exit-code, duration (ms),
start-time, end-time, status, attempts and json ({list.json[0].name}). Of a step that
did not run they are null. Text that meets a number is read as one.

  == != < <= > >=                 compare
  && || ! ( )                     and, or, not
  x ? y : z, x ?? y               choose; x, or y where x is null
  contains startsWith endsWith    'a-b' contains '-'
  matches                         a regular expression (RE2)
  in                              {TARGET} in ['staging', 'production']
  + - * / % **                    calculate; + joins texts
  1..5                            a list of numbers

A condition that calls neither success(), failure(), cancelled() nor always() means
success() && (...): the step is skipped when something it waits for went badly.

Functions:

` + aligned(functionsHelp) + `

There is no clock and no chance in a condition: a run that is resumed decides as it did
at first. flowrun run --dry-run says what each condition comes to, and why.`
}

const parametersPage = `Values for a tool's parameters stand behind its name:

  NAME=text        as it is, up to the end of the word; your shell's quotes apply
  NAME=@file       the file's content, exactly; for arrays and objects its JSON
  NAME:=JSON       JSON: COUNT:=3  TAGS:='["a","b"]'  TEXT:='"@ begins this text"'
  NAME=a NAME=b    an array's elements, one after another
  --params FILE    one JSON object with all of them; - is stdin

What stands on the command line wins over --params. Each value is converted to the
parameter's type, checked (validation), and transformed. Everything that is wrong is
told at once, and flowrun exits 6. What is missing gets its default.

A text that begins with - is refused, since a command could read it as an option;
--allow-dash lets it through. Secrets belong into a file or a variable, not on a command
line that others can see: TOKEN=@file, or environment.secrets in the definition.

  flowrun run deploy TARGET=staging TAGS=a TAGS=b --dry-run

shows what was understood. Tab completes names and values.`

const substitutionPage = `{NAME} in a command stands for a value:

  {PARAM}                   a parameter
  {step.output}             what a step printed; also error, exit-code, status, ...
  {step.json.items[0].id}   a part of its JSON
  {env.NAME}                a variable of flowrun's process
  {item} {index}            in a loop; {matrix.NAME} in a matrix
  {WORKSPACE} {TEMP} {HOME} {OS} {DATE} {TIME} {TIMESTAMP} {TOOL_NAME}
  {PARAM:trim:uppercase}    after transforms: lowercase, uppercase, trim,
                            base64encode, base64decode, urlencode, urldecode,
                            jsonescaped, shellescaped, format(0000)
  {FLAG ? '--flag' : ''}    one of two texts
  {{PARAM}}                 the text {PARAM} itself
  {RAW:PARAM}               as text of the command, unprotected

All other braces stay as they are: ${VAR}, awk '{print $1}', JSON.

A value is data. Whatever is in it, quotes, $(...), newlines, a megabyte: in a command
it is one word, or a part of the text in quotes around it. flowrun knows the quoting at
every place and passes the value beside the script, never in it. Where a shell would
evaluate it all the same (arithmetic, eval), it is proven harmless or refused.

In YAML, a value that begins with { needs quotes:  input: "{list.output}"`

package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/tools"
	"github.com/flowrun/flowrun/internal/cli/ui"
)

// topic is a help page that does not belong to a command. Tests compare the tables in the pages
// with the code.
type topic struct {
	name, short string
	text        func() string
}

func topics() []topic {
	return []topic{
		{"exit-codes", "What the exit codes mean", exitCodesPage},
		{"environment", "Environment variables that flowrun reads and sets", environmentPage},
		{"formatting", "Output formats, colour and progress", func() string { return formattingPage }},
		{"expressions", "The language of run-condition", expressionsPage},
		{"parameters", "How to pass values to a tool", func() string { return parametersPage }},
		{"substitution", "What {NAME} in a command means", func() string { return substitutionPage }},
	}
}

// topicCommands returns a command for each topic that only has help: flowrun help NAME.
func topicCommands() []ui.Command {
	list := []ui.Command{ui.Named("tools", tools.Topic)}
	for _, t := range topics() {
		list = append(list, ui.Named(t.name, func(*ui.Env) *cobra.Command {
			return &cobra.Command{Use: t.name, Short: t.short, Long: t.text()}
		}))
	}
	return list
}

// tableRow is a line of a table in a page: a word and its meaning.
type tableRow struct{ word, meaning string }

// twoColumns formats entries in two columns.
func twoColumns(list []tableRow) string {
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

var exitCodes = []tableRow{
	{"0", "success; if failures were tolerated, the status contains their number"},
	{"1", "the run or a test failed, or there was another error, which is printed"},
	{"2", "usage error: an invalid flag or argument, an unknown command, an ambiguous run"},
	{"3", "a definition is invalid"},
	{"4", "not found: a tool, run, step or file"},
	{"5", "refused: the run is active, the platform is not supported, a policy forbids it"},
	{"6", "the parameters, or the environment variables they come from, are invalid"},
	{"7", "the run is waiting for an answer, or interrupted; flowrun resume continues it"},
	{"8", "the service cannot be reached, or cannot use an address"},
	{"70", "a bug in flowrun"},
	{"124", "the run exceeded its timeout"},
	{"130", "interrupted (Ctrl-C); the run can be resumed"},
	{"141", "the reader of flowrun's output has closed the pipe"},
	{"143", "terminated (SIGTERM); the run can be resumed"},
}

func exitCodesPage() string {
	return "flowrun exits with one of these codes. They do not change between releases.\n\n" +
		twoColumns(exitCodes) + "\n\n" +
		"With -x (--exit-code), the commands run, resume and retry exit with the code of the step\n" +
		"that failed, instead of 1."
}

// variablesRead are the variables that change what flowrun does.
var variablesRead = []tableRow{
	{"FLOWRUN_STATE_DIR", "the folder of history, logs and cache\n(default: $XDG_STATE_HOME/flowrun, else\n~/.local/state/flowrun; on Windows in %LOCALAPPDATA%)"},
	{"FLOWRUN_GLOBAL_TOOLS", "folder of the machine's tools (default: /etc/flowrun/tools)"},
	{"HOME", "your home directory (default: from the user database)"},
	{"SUDO_UID", "root also trusts tools and settings that belong to the user\nwho called sudo"},
	{"FLOWRUN_GLOBAL_CONFIG", "the machine's settings (default: /etc/flowrun/config.yaml);\nevery setting also has a variable, such as\nFLOWRUN_HISTORY_KEEP for history.keep: flowrun config --help"},
	{"FLOWRUN_TOKEN", "the token for callers of flowrun serve; hidden from steps"},
	{"XDG_CONFIG_HOME", "contains your tools (flowrun/tools) and settings\n(flowrun/config.yaml) (default: ~/.config)"},
	{"XDG_STATE_HOME", "contains flowrun, see FLOWRUN_STATE_DIR\n(default: ~/.local/state)"},
	{"LOCALAPPDATA", "the same, on Windows"},
	{"FLOWRUN_PROGRESS", "the default of --progress"},
	{"FLOWRUN_COLOR", "always or never; --color overrides it"},
	{"FLOWRUN_ACCESSIBLE", "1: no animation, no live view"},
	{"NO_COLOR", "not empty: no colour; FLOWRUN_COLOR overrides it"},
	{"FORCE_COLOR", "colour even if the output is not a terminal; 0: no effect"},
	{"CLICOLOR_FORCE", "the same as FORCE_COLOR"},
	{"CLICOLOR", "0: no colour, unless it is forced"},
	{"TERM", "dumb: no colour, and no live view"},
	{"CI", "if set, flowrun asks no questions and shows no live view"},
	{"GITHUB_STEP_SUMMARY", "file of the job summary, to which --progress github appends"},
	{"GITHUB_WORKSPACE", "the checkout; file names in annotations are relative to it"},
	{"GITHUB_ACTIONS", "true: --progress github is the default"},
	{"VISUAL", "the editor for tool edit; if it is not set, EDITOR"},
	{"EDITOR", "see VISUAL"},
	{"DISPLAY", "a desktop, without which flowrun ui only prints its address"},
	{"WAYLAND_DISPLAY", "the same as DISPLAY"},
	{"FLOWRUN_PAGER", "the pager of logs on a terminal; else PAGER, else less"},
	{"PAGER", "see FLOWRUN_PAGER"},
	{"LESS", "the options of less; flowrun sets FRX if it is not set"},
	{"LC_ALL", "else LC_CTYPE, else LANG: ASCII drawings unless it is UTF-8"},
	{"LC_CTYPE", "see LC_ALL"},
	{"LC_MESSAGES", "else LANG, unless LC_ALL is set: de for German where messages\nare translated; --lang overrides it"},
	{"LANG", "see LC_ALL and LC_MESSAGES"},
	{"PATH", "the folders of programs; flowrun NAME runs flowrun-NAME from\none of them if there is no command NAME"},
	{"TZ", "the time zone of times, and the default for schedules"},
	{"TMPDIR", "the folder for temporary files, and the value of {TEMP}"},
	{"FLOWRUN_ENGINE", "whose runs are meant: local (default), temporal or all;\n--engine overrides it"},
	{"FLOWRUN_TASK_QUEUE", "the task queue of flowrun-temporal; --task-queue overrides it"},
	{"FLOWRUN_STORE", "the store of flowrun-temporal; --store overrides it"},
	{"FLOWRUN_ENCRYPTION_KEYS", "the file with the keys of flowrun-temporal;\n--encryption-keys overrides it"},
	{"AWS_ACCESS_KEY_ID", "the key of the bucket that flowrun-temporal --store names"},
	{"AWS_SECRET_ACCESS_KEY", "the secret of that key"},
	{"AWS_SESSION_TOKEN", "the token of a temporary key"},
	{"AWS_REGION", "the region of the bucket, unless --store has one"},
	{"AWS_DEFAULT_REGION", "see AWS_REGION"},
	{"AWS_ENDPOINT_URL_S3", "the endpoint of the bucket, unless --store has one"},
	{"TRACEPARENT", "the parent span of a run (W3C trace context), used together\nwith TRACESTATE"},
	{"TRACESTATE", "see TRACEPARENT"},
	{"FLOWRUN_MCP_CHAIN", "set by flowrun: the MCP servers in which it runs, none of\nwhich it starts again"},
	{"GOGC", "how much the memory of flowrun itself may grow before it is\ncleaned, in percent (default: 100, for a large plan 50)"},
	{"GOMAXPROCS", "how many CPUs flowrun itself uses (default: 1, for serve all;\nsteps are not limited)"},
}

// variablesOfTraces are the variables of OpenTelemetry that flowrun supports.
var variablesOfTraces = []tableRow{
	{"OTEL_EXPORTER_OTLP_ENDPOINT", "the collector, such as http://HOST:4318; no traces\nif neither this nor the next is set"},
	{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "the full URL for spans; overrides the above"},
	{"OTEL_EXPORTER_OTLP_HEADERS", "headers to send: NAME=VALUE,NAME=VALUE"},
	{"OTEL_EXPORTER_OTLP_TRACES_HEADERS", "overrides the above"},
	{"OTEL_EXPORTER_OTLP_PROTOCOL", "only http/protobuf is supported"},
	{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "overrides the above"},
	{"OTEL_SERVICE_NAME", "the service name (default: flowrun)"},
	{"OTEL_RESOURCE_ATTRIBUTES", "more attributes: NAME=VALUE,NAME=VALUE"},
	{"OTEL_TRACES_EXPORTER", "none: off"},
	{"OTEL_SDK_DISABLED", "true: off"},
}

// variablesSet are the variables that flowrun sets for steps.
var variablesSet = []tableRow{
	{"FLOWRUN_RUN", "the run's id"},
	{"FLOWRUN_STEP", "the path of the step, such as setup/clone or test[3]"},
	{"FLOWRUN_ATTEMPT", "1 in the first attempt, 2 in the second, ..."},
	{"FLOWRUN_IDEMPOTENCY_KEY", "the same in every attempt and after resume, for\nservices that accept one"},
	{"FLOWRUN_OUTPUT", "the file for the outputs of the step, if it declares any"},
	{"FLOWRUN_STATE", "the file in which a step sets values of the tool's state"},
	{"FLOWRUN_TEMP", "the temporary folder of the run, if the tool sets\nfile-paths.temp-directory; also TMPDIR"},
	{"TRACEPARENT", "the span of the step, if traces are sent"},
	{"TRACESTATE", "received with flowrun's own TRACEPARENT"},
	{"FLOWRUN_OWNER", "identifies the processes of the run; do not change it"},
}

// variablesOfNotify are the variables that flowrun sets for notification commands.
var variablesOfNotify = []tableRow{
	{"FLOWRUN_EVENT", "failure, recovery, success, waiting, cancelled, late or paused"},
	{"FLOWRUN_MESSAGE", "a description in one line"},
	{"FLOWRUN_RUN_ID", "the id of the run"},
	{"FLOWRUN_TOOL", "the tool of the run"},
	{"FLOWRUN_STATUS", "the status of the run"},
	{"FLOWRUN_EXIT_CODE", "the recorded exit code of the run"},
	{"FLOWRUN_SCHEDULE", "the schedule, for the events late and paused"},
}

func environmentPage() string {
	return "Variables that flowrun reads:\n\n" + twoColumns(variablesRead) +
		"\n\nVariables that send traces of runs to an OpenTelemetry collector:\n\n" + twoColumns(variablesOfTraces) +
		"\n\nVariables that flowrun sets for steps, in addition to its own environment and that of\nthe definition (environment, env-files):\n\n" + twoColumns(variablesSet) +
		"\n\nVariables that flowrun sets for commands of notify:\n\n" + twoColumns(variablesOfNotify)
}

const formattingPage = `Results go to stdout and everything else goes to stderr, so a pipe receives only the
result. Choose its format with -o:

  -o text       the output of the tool (run), or a page to read (show)
  -o table      columns (runs, ...), truncated to the width of the terminal
  -o json       one document, with its name and version in the field "schema"
  -o jsonl      one document per line
  -o combined   the output of every step, under its name (run)

New releases only add fields to documents. flowrun schema run prints the JSON Schema of
flowrun/run.v1, and so on for every document. An event has its version in the field "v";
its schema is flowrun schema event. For example:

  flowrun run report -o json | jq -r '.steps[] | select(.status == "failed") | .id'
  flowrun runs -o jsonl | jq -r .id

Choose how progress is shown on stderr with --progress:

  tty           a live view, which needs a terminal
  plain         a line for each change
  json          events, one per line; if flowrun fails, the last line is an error
  github        groups, annotations and a job summary for GitHub Actions
  quiet         failures only
  none          nothing
  auto          tty on a terminal, github if GITHUB_ACTIONS is set, else plain

flowrun uses colour on a terminal, and decides this for stdout and stderr separately.
Colour never carries information of its own. flowrun help environment lists the
variables that turn it on and off. If the locale is not UTF-8, drawings use ASCII.`

// functionsHelp describes the functions that a condition can call.
var functionsHelp = []tableRow{
	{"success()", "no upstream step failed"},
	{"failure()", "an upstream step failed"},
	{"cancelled()", "the run was cancelled"},
	{"always()", "true, even if the run was cancelled"},
	{"len(x)", "number of elements or characters"},
	{"int float string type", "convert to a type; the name of a type"},
	{"abs ceil floor round", "of a number"},
	{"max min sum mean median", "of numbers, or of a list of numbers"},
	{"lower upper trim trimPrefix trimSuffix", "of text"},
	{"split splitAfter", "split text into a list"},
	{"hasPrefix hasSuffix indexOf lastIndexOf", "search in text"},
	{"all any one none count", "test the elements: all(list, # > 1)"},
	{"filter find findIndex", "matching elements, the first, its index"},
	{"findLast findLastIndex", "the last match, its index"},
	{"map groupBy sortBy", "for every element: map(list, #.name)"},
	{"first last take get reverse sort uniq", "of a list"},
	{"concat flatten", "combine lists"},
	{"keys values toPairs fromPairs", "of an object"},
	{"fromJSON toJSON fromBase64 toBase64", "convert to and from text"},
	{"duration", "from text such as 1m30s"},
	{"bitand bitor bitxor bitnand", "of whole numbers"},
	{"bitnot bitshl bitshr bitushr", "of whole numbers"},
}

func expressionsPage() string {
	return `run-condition decides whether a step runs, and retry.when whether it is retried.

  run-condition: "{build.exit-code} == 0 && {TARGET} != 'staging'"

Write values in braces. flowrun never parses a value as part of the condition, so the
output of a step is only compared. A step has the fields output, error, exit-code,
duration (ms), start-time, end-time, status, attempts and json ({list.json[0].name}).
They are null if the step did not run. Text that is compared with a number is converted
to a number.

  == != < <= > >=                 compare
  && || ! ( )                     and, or, not
  x ? y : z, x ?? y               choose; x, or y if x is null
  contains startsWith endsWith    'a-b' contains '-'
  matches                         a regular expression (RE2)
  in                              {TARGET} in ['staging', 'production']
  + - * / % **                    calculate; + also joins text
  1..5                            a list of numbers

A condition that calls none of success(), failure(), cancelled() and always() means
success() && (...): the step is skipped if an upstream step failed.

Functions:

` + twoColumns(functionsHelp) + `

A condition cannot use the time or random numbers, so a resumed run decides as before.
flowrun run --dry-run shows the result of each condition, and the reason.`
}

const parametersPage = `Write the values of parameters after the name of the tool:

  NAME=text        the text as it is; the quoting rules of your shell apply
  NAME=@file       the exact content of a file; for arrays and objects, its JSON
  NAME:=JSON       JSON: COUNT:=3  TAGS:='["a","b"]'  TEXT:='"@ begins this text"'
  NAME=a NAME=b    the elements of an array
  --params FILE    one JSON or YAML object with all values; - is stdin

Values on the command line override those of --params. Missing parameters get their
default. flowrun converts each value to the type of the parameter, validates it and
transforms it. If values are invalid, it reports all problems together and exits with 6.

flowrun rejects text that begins with -, because a command could read it as an option.
To allow it, use --allow-dash. Do not write secrets on the command line, where others
can see them. Use TOKEN=@file, or environment.secrets in the definition.

To see how flowrun reads your values, add --dry-run. Tab completes names and values.

  flowrun run deploy TARGET=staging TAGS=a TAGS=b --dry-run`

const substitutionPage = `{NAME} in a command is a placeholder for a value:

  {PARAM}                   a parameter
  {step.output}             the output of a step; also error, exit-code, status, ...
  {step.json.items[0].id}   a part of its JSON
  {env.NAME}                an environment variable of flowrun
  {item} {index}            in a loop; {matrix.NAME} in a matrix
  {WORKSPACE} {TEMP} {HOME} {OS} {DATE} {TIME} {TIMESTAMP} {TOOL_NAME}
  {PARAM:trim:uppercase}    after transforms: lowercase, uppercase, trim,
                            base64encode, base64decode, urlencode, urldecode,
                            jsonescaped, shellescaped, format(0000)
  {FLAG ? '--flag' : ''}    one of two texts
  {{PARAM}}                 the text {PARAM} itself
  {RAW:PARAM}               as part of the command, without protection

flowrun leaves all other braces unchanged: ${VAR}, awk '{print $1}', JSON.

A value is data. Whatever it contains (quotes, $(...), newlines, a megabyte of text), it
reaches the command as one word, or as part of the quoted text around it. flowrun passes
the value separately from the script and adapts to the quoting at each place. Where a
shell would still evaluate the value (arithmetic, eval), flowrun proves it harmless or
rejects it.

In YAML, a value that begins with { needs quotes:  input: "{list.output}"`

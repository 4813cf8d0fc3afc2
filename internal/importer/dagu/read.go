// Package dagu reads the DAGs of Dagu for flowrun import. A DAG becomes a tool. Its parameters are environment variables
// of all steps, as they are in Dagu, so commands keep their $NAME.
package dagu

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/internal/importer"
	"github.com/flowrun/flowrun/internal/lang/cron"
)

type reader struct {
	result   importer.Result
	tool     *importer.Tool
	names    map[string]string // the name or id of a step to that of flowrun
	taken    map[string]bool
	values   map[string]string // variables that are parameters, with their values, as conditions can contain them
	fixed    map[string]string // variables with a value that does not change
	outputs  map[string]string // variables that steps set to their output
	shell    string
	ownShell bool            // the DAG sets its shell
	unsure   map[string]bool // the steps whose shell depends on the environment of Dagu
	active   int             // maxActiveRuns
	skips    bool            // skipIfSuccessful
	bad      string          // why the whole DAG is left out
	lost     importer.Lost
	changed  []string
}

// Read reads a DAG.
func Read(file string, src []byte) (*importer.Result, error) {
	doc, err := importer.ParseYAML(file, src)
	if err != nil {
		return nil, err
	}
	r := &reader{names: map[string]string{}, taken: map[string]bool{}, values: map[string]string{}, outputs: map[string]string{}, shell: "sh", unsure: map[string]bool{}, fixed: map[string]string{"HOME": importer.Ref("HOME"), "PATH": importer.Ref("env.PATH")}}
	r.tool = &importer.Tool{}
	why := doc.Unit(func() string {
		r.read(file, doc)
		return r.bad
	})
	if why == "" && len(r.tool.Steps) == 0 {
		why = "it has no step that flowrun can carry out"
	}
	if why != "" {
		r.result.DropSince(0, "the DAG is left out")
		r.result.Add("DAG", 1, "", importer.LeftOut, "%s", why)
		return &r.result, nil
	}
	if len(r.unsure) > 0 {
		r.changed = append(r.changed, "flowrun runs steps without shell in sh, Dagu in the shell of $DAGU_DEFAULT_SHELL or $SHELL, if it has one")
	}
	for _, c := range r.changed {
		r.tool.Notes = append(r.tool.Notes, "Changed: "+c+".")
	}
	r.result.Tools = []*importer.Tool{r.tool}
	r.result.Outcome("DAG", 1, r.tool.Name, r.changed)
	return &r.result, nil
}

// read fills the tool. It sets bad if the whole DAG is left out.
func (r *reader) read(file string, doc importer.Node) {
	name := doc.Get("name").Text()
	if name == "" {
		name = strings.TrimSuffix(strings.TrimSuffix(file[strings.LastIndexAny(file, `/\`)+1:], ".yaml"), ".yml")
	}
	r.tool.Name, r.tool.Description = importer.Name(name), doc.Get("description").Text()
	if r.tool.Description == "" {
		r.tool.Description = "The DAG " + name
	}
	for _, p := range doc.Pairs() { // first: the schedule, which can stand above them, depends on them
		switch key(p.Key) {
		case "maxactiveruns":
			r.active, _ = strconv.Atoi(p.Text())
		case "skipifsuccessful":
			r.skips = p.True()
		}
	}
	for _, p := range doc.Pairs() {
		r.top(p)
	}
	for _, s := range stepNodes(doc.Get("steps")) {
		label := s.name
		r.names[label] = importer.Unique(r.taken, importer.Name(label))
		if id := s.get("id").Text(); id != "" {
			r.names[id] = r.names[label]
		}
	}
	if r.bad == "" {
		r.tool.Steps = r.steps(doc)
	}
	if r.bad == "" {
		r.handlers(doc)
	}
}

// key returns a key as all spellings of Dagu write it: max_active_runs is maxActiveRuns.
func key(s string) string { return strings.ReplaceAll(strings.ToLower(s), "_", "") }

// top reads a key of the DAG itself.
func (r *reader) top(p importer.Pair) {
	leave := func(reason string) {
		r.result.Add(p.Key, p.Line, "", importer.LeftOut, "%s", reason)
		r.tool.Notes = append(r.tool.Notes, "Left out: "+p.Key+": "+reason+".")
	}
	switch key(p.Key) {
	case "name", "description", "steps", "type", "handleron":
	case "group", "tags", "labels", "histretentiondays", "logdir", "maxoutputsize", "logoutput", "delaysec", "histretentionruns":
		leave("write it in the tool or in the settings, if you need it")
	case "schedule":
		r.schedule(p)
	case "params", "defaultparams":
		r.params(p)
	case "env":
		for _, v := range r.variables(p.Node, "env") {
			r.tool.Environment = append(r.tool.Environment, v)
			if importer.Plain(v.Value) {
				r.values[v.Name] = v.Value
			}
		}
	case "dotenv":
		for _, f := range p.Texts() {
			if f == "" || strings.Contains(f, "$") {
				r.bad = "it reads a file of variables whose path is known only when it runs"
			}
			r.tool.EnvFiles = append(r.tool.EnvFiles, f)
		}
	case "timeoutsec":
		if why := seconds(p.Node, &r.tool.Timeout); why != "" {
			r.bad = why
		}
	case "maxactiveruns":
		n, err := strconv.Atoi(p.Text())
		if err != nil {
			r.bad = "its maxActiveRuns is not a number"
		}
		r.tool.MaxActiveRuns = max(n, 0)
	case "workingdir":
		ok := false
		if r.tool.Dir, ok = r.expand(p.Text()); !ok {
			r.bad = "its workingDir is known only when it runs"
		}
	case "shell":
		r.ownShell = true
		if r.shell = shellOf(p.Node); r.shell == "" {
			r.bad = "flowrun has no steps for the shell " + short(strings.Join(p.Texts(), " "))
		}
	case "preconditions", "precondition":
		if p.Exists() && !(p.IsList() && len(p.Items()) == 0) {
			r.bad = "flowrun has no precondition of a whole tool"
		}
	case "mailon", "smtp", "errormail", "infomail", "waitmail":
		leave("notify of a tool sends e-mails")
	case "skipifsuccessful", "catchupwindow", "overlappolicy":
		leave("write it in the schedule")
	case "maxcleanuptimesec", "restartwaitsec", "queue", "runconfig", "otel":
		leave("flowrun has no counterpart; it does not change what the steps do")
	case "maxactivesteps":
		leave("limit the steps with a pool")
	default:
		r.bad = "flowrun has no counterpart for " + p.Key
	}
}

func (r *reader) schedule(p importer.Pair) {
	if p.IsMap() {
		for _, k := range p.Pairs() {
			if k.Key != "start" {
				r.result.Add("schedule: "+k.Key, k.Line, "", importer.LeftOut, "flowrun has schedules only for starts")
				r.tool.Notes = append(r.tool.Notes, "Left out: the schedule of "+k.Key+": flowrun has schedules only for starts.")
				continue
			}
			r.schedule(importer.Pair{Key: "schedule", Line: k.Line, Node: k.Node})
		}
		return
	}
	for _, text := range p.Texts() {
		s := importer.Schedule{Cron: text}
		if zone, rest, ok := strings.Cut(text, " "); ok && (strings.HasPrefix(zone, "CRON_TZ=") || strings.HasPrefix(zone, "TZ=")) {
			_, s.Timezone, _ = strings.Cut(zone, "=")
			s.Cron = strings.TrimSpace(rest)
		}
		_, err := cron.Parse(s.Cron, cron.Options{})
		if s.Timezone != "" {
			if _, zone := cron.LoadZone(s.Timezone); zone != nil {
				err = zone
			}
		}
		if err != nil || r.skips {
			why := "flowrun cannot use it"
			if err == nil {
				why = "flowrun cannot skip a scheduled time because a run has succeeded"
			}
			r.result.Add("schedule "+text, p.Line, "", importer.LeftOut, "%s", why)
			r.tool.Notes = append(r.tool.Notes, "Left out: the schedule "+text+": "+why+".")
			continue
		}
		s.Overlap = "skip"
		why := "a scheduled time is skipped while a run of this schedule is active; Dagu also skips it during other runs of the DAG"
		if r.active > 1 {
			s.Overlap = "allow"
			why = fmt.Sprintf("a run over the limit of %d is queued", r.active)
		}
		r.tool.Notes = append(r.tool.Notes, "Changed: the schedule "+text+": "+why+".")
		r.tool.Schedules = append(r.tool.Schedules, s)
		r.result.Outcome("schedule "+text, p.Line, r.tool.Name, []string{why})
	}
}

// variables reads env: a list of mappings or of NAME=value, or a mapping.
func (r *reader) variables(n importer.Node, what string) []importer.Variable {
	var vars []importer.Variable
	add := func(name, value string, line int) {
		if importer.ValidVariable(name) && (value == "$"+name || value == "${"+name+"}") {
			r.result.Outcome(what+" "+name, line, r.tool.Name, []string{"it keeps the value of the parameter or of the environment"})
			return
		}
		value, ok := r.expand(value)
		if !ok || !importer.ValidVariable(name) {
			r.bad = "the value of " + short(name) + " is known only when it runs"
			return
		}
		r.fixed[name] = value
		vars = append(vars, importer.Variable{Name: name, Value: value})
		r.result.Outcome(what+" "+name, line, r.tool.Name, nil)
	}
	for _, item := range n.Items() {
		if !item.IsMap() {
			name, value, _ := strings.Cut(item.Text(), "=")
			add(name, value, item.Line())
			continue
		}
		for _, k := range item.Pairs() {
			add(k.Key, k.Text(), k.Line)
		}
	}
	return vars
}

var reference = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))`)
})

// expand replaces $NAME and ${NAME} in a value that Dagu itself expands: the variables of env above, HOME and PATH. ok is
// false if the value is known only when the DAG runs.
func (r *reader) expand(s string) (value string, ok bool) {
	known := true
	value = reference().ReplaceAllStringFunc(s, func(ref string) string {
		name := strings.Trim(ref, "${}")
		fixed, ok := r.fixed[name]
		known = known && ok
		return fixed
	})
	return value, known && !strings.ContainsAny(value, "$`")
}

// seconds reads a time limit in seconds. Without a limit it is 0.
func seconds(n importer.Node, timeout *string) (why string) {
	v, err := strconv.Atoi(n.Text())
	switch {
	case n.Exists() && (err != nil || v < 0 || v >= 1e9):
		return "its timeoutSec is not a number of seconds: " + short(n.Text())
	case v > 0:
		*timeout = n.Text() + "s"
	}
	return ""
}

func shellOf(n importer.Node) string {
	switch strings.Join(n.Texts(), " ") {
	case "sh", "/bin/sh":
		return "sh"
	case "bash", "/bin/bash":
		return "bash"
	case "python", "python3":
		return "python"
	}
	return ""
}

func short(s string) string {
	s = strings.ReplaceAll(s, "\n", " ")
	if r := []rune(s); len(r) > 50 {
		return string(r[:47]) + "..."
	}
	return s
}

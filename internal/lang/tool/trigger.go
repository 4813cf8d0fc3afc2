package tool

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/keytable"
)

// Trigger is one entry of on: an event for which the service starts the tool. Exactly one of File and After is set.
type Trigger struct {
	Pos     Pos
	Name    *Text // nil: see TriggerName
	File    *FileTrigger
	After   *AfterTrigger
	Params  []Entry // {trigger.NAME} in their values is replaced by data of the event
	Overlap string  // "" (queue), queue, skip, cancel-running or allow
	CatchUp EventCatchUp
}

// EventCatchUp specifies what to do about events that happened while no service was running.
type EventCatchUp struct {
	Mode   string        // "" (all), all, once or none
	Window time.Duration // 0 = no limit
}

// FileTrigger starts the tool for each file that appears or changes.
type FileTrigger struct {
	Path   *Text         // path, folder or pattern
	Settle time.Duration // 0 = DefaultSettle
}

// AfterTrigger starts the tool after runs of another tool.
type AfterTrigger struct {
	Tool   *Text
	Status string // "" (succeeded), succeeded, failed or any
}

// DefaultSettle is how long a file must stay unchanged before it starts a run.
const DefaultSettle = time.Second

// The limits of settle.
const (
	minSettle = 100 * time.Millisecond
	maxSettle = time.Hour
)

// triggersField returns the field on. Its objects are made when it is: most programs never ask for them.
func triggersField() keytable.Field {
	file := keytable.NewObject("file", "Files that start a run when they appear or change.", func() []keytable.Field {
		return []keytable.Field{
			keytable.Text("path", "", "The files: a path, a folder or a pattern such as incoming/*.csv, below the working directory of the runs.", func(f *FileTrigger, v Text) { f.Path = &v }).AsRequired(),
			keytable.Duration("settle", "", "How long a file must stay unchanged before the run starts, from 100ms to 1h.", func(f *FileTrigger, v time.Duration) { f.Settle = v }).WithDefault("1s"),
		}
	}).WithCheck(checkFileTrigger)
	after := keytable.NewObject("after", "A tool whose runs start a run of this one.", func() []keytable.Field {
		return []keytable.Field{
			keytable.Text("tool", "", "Name of the other tool.", func(a *AfterTrigger, v Text) { a.Tool = &v }).AsRequired(),
			keytable.Choice("status", "", afterStatuses(), "How the run of the other tool must have ended.", func(a *AfterTrigger, v string) { a.Status = v }).WithDefault("succeeded"),
		}
	}).WithCheck(checkAfterTrigger)
	catchUp := keytable.NewObject("catch-up of on", "What to do about events that happened while no service was running.", func() []keytable.Field {
		return []keytable.Field{
			keytable.Choice("mode", "", catchUps, "Number of runs to start: none, one for the newest event (once), or one for each event (all).", func(c *EventCatchUp, v string) { c.Mode = v }).WithDefault("all"),
			keytable.Duration("window", "", "How late a missed event may still start a run. Default: no limit.", func(c *EventCatchUp, v time.Duration) { c.Window = v }),
		}
	})
	entry := keytable.NewObject("an entry of on", "An event for which flowrun serve starts the tool. Use either file or after.", func() []keytable.Field {
		return []keytable.Field{
			keytable.Nested("file", "", file, "Starts a run for each file that appears or changes.", func(t *Trigger) *FileTrigger { t.File = &FileTrigger{}; return t.File }),
			keytable.Nested("after", "", after, "Starts a run after each run of another tool.", func(t *Trigger) *AfterTrigger { t.After = &AfterTrigger{}; return t.After }),
			keytable.Text("name", "", "Name of the entry in commands. Default: the name of the tool and .on, then .on#2, .on#3 and so on.", func(t *Trigger, v Text) { t.Name = &v }),
			keytable.ValueMap("params", "", "Parameters of the runs. {trigger.NAME} in a text is replaced by data of the event.", func(t *Trigger, v []Entry) { t.Params = v }),
			keytable.Choice("overlap", "", overlaps, "What to do about an event while a run of the entry is still active.", func(t *Trigger, v string) { t.Overlap = v }).WithDefault("queue"),
			modeOrMapping(keytable.Nested("catch-up", "", catchUp, "What to do about events that happened while no service was running: a mode, or a mapping with a limit.", func(t *Trigger) *EventCatchUp { return &t.CatchUp }),
				func(t *Trigger, mode string) { t.CatchUp.Mode = mode }),
		}
	}).WithCheck(checkTrigger).WithHint("webhook", keytable.FixedHint("a webhook has a secret and is therefore a setting: add webhooks: {NAME: {tool: TOOL, secret-env: VARIABLE}} to the configuration file, see flowrun docs triggers"))
	return keytable.List("on", "", entry, "Events for which flowrun serve starts the tool: files that arrive or change, and runs of other tools. See triggers.md.",
		func(t *Draft, p Pos) *Trigger { return addPointer(&t.Triggers, &Trigger{Pos: p}) })
}

func afterStatuses() []string { return []string{"succeeded", "failed", "any"} }

// Kind returns the kind of the event: file or after.
func (t *Trigger) Kind() string {
	if t.File != nil {
		return "file"
	}
	return "after"
}

// Data returns the names that {trigger.NAME} may have in the parameters.
func (t *Trigger) Data() []string {
	if t.File != nil {
		return []string{"path", "name"}
	}
	return []string{"tool", "run", "status"}
}

// TriggerName returns the name of the tool's trigger number i, counted from 0.
func (d *Definition) TriggerName(i int) string {
	switch t := d.Triggers[i]; {
	case t.Name != nil:
		return t.Name.S
	case i > 0:
		return fmt.Sprintf("%s.on#%d", d.Name, i+1)
	}
	return d.Name + ".on"
}

// triggerPlaceholder matches {trigger.NAME}, and braces that were meant as one, such as {trigger[0]}.
var triggerPlaceholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{trigger([.\[ :|][^{}\n]*)?\}`) })

// TriggerPlaceholders returns the {trigger.NAME} in a value of params. NAME need not be valid.
func TriggerPlaceholders(value any) (found []string) {
	MapTexts(value, func(text string) string {
		found = append(found, triggerPlaceholder().FindAllString(text, -1)...)
		return text
	})
	return found
}

// FillTrigger returns a value of params with the data of an event in place of {trigger.NAME}. The data are values: what
// looks like a placeholder in them is not replaced.
func FillTrigger(value any, data map[string]string) any {
	return MapTexts(value, func(text string) string {
		return triggerPlaceholder().ReplaceAllStringFunc(text, func(found string) string {
			if v, ok := data[strings.TrimSuffix(strings.TrimPrefix(found, "{trigger."), "}")]; ok {
				return v
			}
			return found
		})
	})
}

// MapTexts returns a copy of a value with f applied to every text in it. Keys of objects are not changed.
func MapTexts(value any, f func(string) string) any {
	switch v := value.(type) {
	case string:
		return f(v)
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = MapTexts(item, f)
		}
		return list
	case map[string]any:
		m := make(map[string]any, len(v))
		for key, item := range v {
			m[key] = MapTexts(item, f)
		}
		return m
	}
	return value
}

func checkTrigger(d *keytable.Decoder, into any, n *yaml.Node, content []*yaml.Node) {
	t := into.(*Trigger)
	file, after := keytable.KeyOf(content, "file"), keytable.KeyOf(content, "after")
	switch {
	case file == nil && after == nil:
		if keytable.KeyOf(content, "webhook") == nil { // otherwise there is an error with a hint already
			d.Fail(n, "bad-trigger", "the entry does not say what starts the tool", "add 'file: {path: incoming/*.csv}' or 'after: {tool: NAME}'")
		}
	case file != nil && after != nil:
		d.FailKey(after, "bad-trigger", "the entry has both file and after", "write two entries, each with one of them")
	}
	if t.Name != nil && !ValidScheduleName(t.Name.S) {
		reportAt(d, t.Name.Pos, Error, "bad-name", "name", diagnostic.Quote(t.Name.S)+" cannot be the name of an entry of on",
			"use letters, digits, '_', '.' and '-', beginning with a letter, a digit or '_'")
	}
	for i := range t.Params {
		t.checkPlaceholders(d, &t.Params[i])
	}
}

// checkPlaceholders reports {trigger.NAME} with a name that the event does not have.
func (t *Trigger) checkPlaceholders(d *keytable.Decoder, e *Entry) {
	known := t.Data()
	if t.File == nil && t.After == nil {
		return // it is not known which names there are
	}
	for _, found := range TriggerPlaceholders(e.Value.Data()) {
		if name := strings.TrimPrefix(found, "{trigger."); !slices.Contains(known, strings.TrimSuffix(name, "}")) {
			reportAt(d, e.Value.Pos, Error, "bad-trigger", "params."+e.Key, fmt.Sprintf("an event of %s has no %s", t.Kind(), found),
				"use {trigger."+strings.Join(known, "}, {trigger.")+"}")
		}
	}
}

func checkFileTrigger(d *keytable.Decoder, into any, n *yaml.Node, content []*yaml.Node) {
	f := into.(*FileTrigger)
	if keytable.KeyOf(content, "path") == nil {
		d.Fail(n, "bad-trigger", "file has no path", "add 'path:' with a path, a folder or a pattern such as incoming/*.csv")
	} else if f.Path != nil && strings.TrimSpace(f.Path.S) == "" {
		d.Fail(keytable.Deref(keytable.ValueOf(content, "path")), "bad-trigger", "the path is empty", "write a path, a folder or a pattern such as incoming/*.csv")
	}
	if v := keytable.ValueOf(content, "settle"); v != nil && f.Settle != 0 && (f.Settle < minSettle || f.Settle > maxSettle) {
		d.Fail(keytable.Deref(v), "bad-trigger", fmt.Sprintf("settle %s is not from 100ms to 1h", f.Settle), "write how long a file must stay unchanged, such as 5s")
	}
}

func checkAfterTrigger(d *keytable.Decoder, into any, n *yaml.Node, content []*yaml.Node) {
	a := into.(*AfterTrigger)
	if keytable.KeyOf(content, "tool") == nil {
		d.Fail(n, "bad-trigger", "after has no tool", "add 'tool:' with the name of the tool whose runs start this one")
	} else if a.Tool != nil && !ValidName(a.Tool.S) {
		d.Fail(keytable.Deref(keytable.ValueOf(content, "tool")), "bad-trigger", diagnostic.Quote(a.Tool.S)+" cannot be the name of a tool", "write the name that flowrun tool list shows")
	}
}

// checkTriggerNames reports entries of on that have the name of another one or of a schedule.
func checkTriggerNames(d *keytable.Decoder, t *Draft) {
	first := map[string]Pos{}
	for i, s := range t.Schedules {
		first[t.ScheduleName(i)] = s.Pos
	}
	for i, e := range t.Triggers {
		title := t.TriggerName(i)
		other, taken := first[title]
		if !taken {
			first[title] = e.Pos
			continue
		}
		at := e.Pos
		if e.Name != nil {
			at = e.Name.Pos
		}
		d.Report(Diagnostic{Code: "duplicate-schedule", Severity: Error, Pos: at, Len: max(1, len([]rune(title))), Path: fmt.Sprintf("on[%d].name", i),
			Message: fmt.Sprintf("two entries of schedule and on are named %s", diagnostic.Quote(title)), Hint: "change the 'name:' of one of them",
			Related: []Place{{Pos: other, Len: 1, Message: "the first is here"}}})
	}
}

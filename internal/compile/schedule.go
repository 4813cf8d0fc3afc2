package compile

import (
	"errors"
	"fmt"
	"time"

	"github.com/flowrun/flowrun/internal/call"
	"github.com/flowrun/flowrun/internal/cron"
	"github.com/flowrun/flowrun/internal/plan"
	"github.com/flowrun/flowrun/internal/value"
	"github.com/flowrun/flowrun/tool"
)

// checkSchedules checks the times and parameters of the tool's schedules.
func (c *compiler) checkSchedules(p *plan.Plan) {
	for i, s := range p.Definition.Schedules {
		path := fmt.Sprintf("schedule[%d]", i)
		zone := c.scheduleZone(s, path)
		c.checkCron(s, path, zone)
		c.checkScheduleBounds(s, path, zone)
		c.checkScheduleParams(p, s, path)
	}
}

func (c *compiler) badSchedule(at tool.Pos, length int, path, message, hint string) {
	c.report(tool.Diagnostic{Code: "bad-schedule", Severity: tool.Error, Pos: at, Len: length, Path: path, Message: message, Hint: hint})
}

// scheduleZone returns the schedule's time zone, or that of the machine.
func (c *compiler) scheduleZone(s *tool.Schedule, path string) *time.Location {
	if s.Timezone == nil {
		return time.Local
	}
	zone, err := cron.LoadZone(s.Timezone.S)
	if err != nil {
		c.badSchedule(s.Timezone.Pos, max(1, len([]rune(s.Timezone.S))), path+".timezone", "the time zone "+err.Error(), "")
		return time.Local
	}
	return zone
}

// checkCron checks the cron expression. Each problem is reported at its position in the expression.
func (c *compiler) checkCron(s *tool.Schedule, path string, zone *time.Location) {
	if s.Cron == nil {
		if s.Every%time.Second != 0 && s.Every > tool.MinEvery {
			c.badSchedule(s.EveryPos, 1, path+".every", fmt.Sprintf("every %s is not a whole number of seconds", s.Every), "write whole seconds, such as 90s")
		}
		return
	}
	spec, err := cron.Parse(s.Cron.S, cron.Options{Zone: zone})
	if bad, ok := errors.AsType[*cron.Error](err); ok {
		for _, p := range bad.Problems {
			message := p.Message
			if p.Field != "" {
				message = p.Field + ": " + message
			}
			length := len([]rune(s.Cron.S[p.Off : p.Off+p.Len]))
			c.badSchedule(s.Cron.At(p.Off), max(1, length), path+".cron", message, p.Hint)
		}
		return
	}
	if spec.Zoned() && s.Timezone != nil {
		c.badSchedule(s.Timezone.Pos, max(1, len([]rune(s.Timezone.S))), path+".timezone", "timezone has no effect: the cron expression contains a time zone", "keep one of the two")
	}
}

func (c *compiler) checkScheduleBounds(s *tool.Schedule, path string, zone *time.Location) {
	var at [2]time.Time
	for i, text := range []*tool.Text{s.Start, s.End} {
		if text == nil {
			continue
		}
		var err error
		if at[i], err = tool.Moment(text.S, zone); err != nil {
			c.badSchedule(text.Pos, max(1, len([]rune(text.S))), path+[]string{".start", ".end"}[i], err.Error(), "")
			return
		}
	}
	if s.Start != nil && s.End != nil && !at[0].Before(at[1]) {
		c.badSchedule(s.End.Pos, len([]rune(s.End.S)), path+".end", "the schedule ends before it starts", "end must be after start: nothing starts at end or later")
	}
}

// checkScheduleParams checks the schedule's parameters against those of the tool now, because nobody sees the error
// when a run starts on schedule.
func (c *compiler) checkScheduleParams(p *plan.Plan, s *tool.Schedule, path string) {
	given := map[string]*tool.Entry{}
	var known []string
	for _, prm := range p.Params {
		known = append(known, prm.Def.Name)
	}
	for i := range s.Params {
		e := &s.Params[i]
		given[e.Key] = e
		if p.Secret(e.Key) {
			c.badSchedule(e.Pos, len([]rune(e.Key)), path+".params."+e.Key, fmt.Sprintf("parameter %s is secret and cannot be set in a schedule", e.Key),
				"let the tool fetch the value with environment.secrets")
			return
		}
	}
	raw := map[string]call.Given{}
	for name, v := range p.Given(s.Params) {
		raw[name] = call.Given{V: v}
	}
	err := call.Check(p, (&call.RunEnv{}).Filled(), raw)
	bad, _ := errors.AsType[*value.ParamsError](err)
	if bad == nil {
		return
	}
	for _, problem := range bad.Problems {
		e := given[problem.Parameter()]
		switch {
		case problem.Code == "unknown":
			c.unknownParameter(p.Definition, e, p.Definition, known, tool.Error)
		case problem.Code == "missing":
			c.report(tool.Diagnostic{Code: "missing-parameter", Severity: tool.Error, Pos: s.Pos, Len: 1, Path: path,
				Message: fmt.Sprintf("the schedule does not set the required parameter %s", problem.Name), Hint: fmt.Sprintf("add %s under params:", problem.Name)})
		case e != nil: // problems with a default may depend on the machine
			c.report(tool.Diagnostic{Code: "bad-argument", Severity: tool.Error, Pos: e.Value.Pos, Len: 1, Path: path + ".params." + e.Key,
				Message: fmt.Sprintf("invalid value for parameter %s of tool %s: %s", e.Key, p.Name(), problem.Message), Hint: problem.Hint})
		}
	}
}

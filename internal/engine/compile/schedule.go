package compile

import (
	"errors"
	"fmt"
	"time"

	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/cron"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// checkSchedules checks the times and parameters of the tool's schedules.
func (c *compiler) checkSchedules(p *plan.Plan) {
	for i, s := range p.Definition.Schedules {
		path := fmt.Sprintf("schedule[%d]", i)
		zone := c.scheduleZone(s, path)
		c.checkCron(s, path, zone)
		c.checkScheduleBounds(s, path, zone)
		c.checkStartParams(p, start{what: "a schedule", code: "bad-schedule", at: s.Pos, path: path, params: s.Params})
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

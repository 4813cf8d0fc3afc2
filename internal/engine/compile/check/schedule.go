package check

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/cron"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// schedules checks the times and parameters of the tool's schedules.
func schedules(p *plan.Plan) (ds tool.Diagnostics) {
	for i, s := range p.Definition.Schedules {
		path := fmt.Sprintf("schedule[%d]", i)
		zone, err := scheduleZone(s)
		if err != nil {
			ds = append(ds, errorAt("bad-schedule", *s.Timezone, path+".timezone", "the time zone "+err.Error(), ""))
		}
		ds = append(ds, cronExpression(s, path, zone)...)
		ds = append(ds, scheduleBounds(s, path, zone)...)
		ds = append(ds, exceptDays(s, path)...)
		if s.MustEndBy != nil {
			if _, err := cron.ParseDeadline(s.MustEndBy.S, zone); err != nil {
				ds = append(ds, errorAt("bad-schedule", *s.MustEndBy, path+".must-end-by", err.Error(), ""))
			}
		}
		ds = append(ds, startParams(p, start{a: "a schedule", name: "the schedule", code: "bad-schedule", at: s.Pos, path: path, params: s.Params, placeholders: tool.SchedulePlaceholders, before: len(ds)})...)
	}
	return ds
}

// scheduleZone returns the schedule's time zone, and that of the machine if it has none or an invalid one.
func scheduleZone(s *tool.Schedule) (*time.Location, error) {
	if s.Timezone == nil {
		return time.Local, nil
	}
	zone, err := cron.LoadZone(s.Timezone.S)
	return cmp.Or(zone, time.Local), err
}

// cronExpression checks the cron expression. Each problem is reported at its position in the expression.
func cronExpression(s *tool.Schedule, path string, zone *time.Location) (ds tool.Diagnostics) {
	if s.Cron == nil {
		if s.Every%time.Second != 0 && s.Every > tool.MinEvery {
			ds = append(ds, errorAt("bad-schedule", tool.Text{Pos: s.EveryPos}, path+".every", fmt.Sprintf("every %s is not a whole number of seconds", s.Every), "write whole seconds, such as 90s"))
		}
		return ds
	}
	spec, err := cron.Parse(s.Cron.S, cron.Options{Zone: zone})
	if bad, ok := errors.AsType[*cron.Error](err); ok {
		for _, p := range bad.Problems {
			message := p.Message
			if p.Field != "" {
				message = p.Field + ": " + message
			}
			at := tool.Text{S: s.Cron.S[p.Off : p.Off+p.Len], Pos: s.Cron.At(p.Off)}
			ds = append(ds, errorAt("bad-schedule", at, path+".cron", message, p.Hint))
		}
		return ds
	}
	if spec.Zoned() && s.Timezone != nil {
		ds = append(ds, errorAt("bad-schedule", *s.Timezone, path+".timezone", "timezone has no effect: the cron expression contains a time zone", "keep one of the two"))
	}
	return ds
}

// exceptDays checks the dates of except. Its files are not read: they are no part of the definition.
func exceptDays(s *tool.Schedule, path string) (ds tool.Diagnostics) {
	for i, e := range s.Except {
		if e.Days == nil {
			continue
		}
		if _, err := cron.ParseDays(e.Days.S); err != nil {
			ds = append(ds, errorAt("bad-schedule", *e.Days, fmt.Sprintf("%s.except[%d]", path, i), err.Error(), ""))
		}
	}
	return ds
}

func scheduleBounds(s *tool.Schedule, path string, zone *time.Location) tool.Diagnostics {
	var at [2]time.Time
	for i, text := range []*tool.Text{s.Start, s.End} {
		if text == nil {
			continue
		}
		var err error
		if at[i], err = tool.Moment(text.S, zone); err != nil {
			return tool.Diagnostics{errorAt("bad-schedule", *text, path+[]string{".start", ".end"}[i], err.Error(), "")}
		}
	}
	if s.Start != nil && s.End != nil && !at[0].Before(at[1]) {
		return tool.Diagnostics{errorAt("bad-schedule", *s.End, path+".end", "the schedule ends before it starts", "end must be after start: nothing starts at end or later")}
	}
	return nil
}

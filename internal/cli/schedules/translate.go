package schedules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/lang/cron"
	"github.com/flowrun/flowrun/internal/service/timetable"
)

// This file translates cron expressions for cron and systemd, which support fewer features. An
// expression that cannot be translated is an error with the reason.

// macroFields are the expressions that the macros stand for.
var macroFields = map[string]string{
	"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
	"@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
}

// plainFields returns the six fields of the expression, beginning with seconds. It returns an error
// if a field contains anything but values, ranges, steps and lists.
func plainFields(s cron.Spec) ([]string, error) {
	text := s.Text()
	if s.Interval() > 0 {
		return nil, fmt.Errorf("%q counts from a start time, which only flowrun serve supports", text)
	}
	if fields, ok := macroFields[text]; ok {
		text = fields
	}
	fields := strings.Fields(strings.ReplaceAll(text, "?", "*"))
	if len(fields) == 5 {
		fields = append([]string{"0"}, fields...)
	}
	for i, f := range fields {
		fields[i] = fieldNumbers(i, f)
		if strings.Trim(fields[i], "0123456789*,-/") != "" {
			return nil, fmt.Errorf("only flowrun serve supports %q", f)
		}
		if anyValue(fields[i]) {
			fields[i] = "*"
		}
	}
	return fields, nil
}

// fieldNumbers replaces the names of months and days in a field by numbers.
func fieldNumbers(field int, f string) string {
	var names []string
	switch field {
	case 4:
		names = []string{"", "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"}
	case 5:
		f = strings.ReplaceAll(f, "-SUN", "-7")
		names = []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}
	}
	for n, name := range names {
		if name != "" {
			f = strings.ReplaceAll(f, name, strconv.Itoa(n))
		}
	}
	return f
}

// crontabTime translates the expression for cron on this machine.
func crontabTime(s cron.Spec) (string, error) {
	fields, err := plainFields(s)
	switch {
	case err != nil:
		return "", err
	case fields[0] != "0":
		return "", fmt.Errorf("cron does not support seconds, and %q does not run at a full minute", s.Text())
	case fields[3] != "*" && fields[5] != "*" && (fields[3][0] == '*' || fields[5][0] == '*'):
		return "", fmt.Errorf("%q runs when the day of the month or the day of the week matches, but cron would require both", s.Text())
	case timetable.ZoneName(s.Zone()) != timetable.ZoneName(time.Local):
		return "", fmt.Errorf("cron uses the machine's time zone, but this schedule uses %s", s.Zone())
	}
	return strings.Join(fields[1:], " "), nil
}

// onCalendar translates the expression for OnCalendar of systemd.
func onCalendar(s cron.Spec) (string, error) {
	fields, err := plainFields(s)
	if err != nil {
		return "", err
	}
	days := ""
	if fields[5] != "*" {
		if fields[3] != "*" {
			return "", fmt.Errorf("%q runs when the day of the month or the day of the week matches, but systemd would require both", s.Text())
		}
		days = weekdays(fields[5]) + " "
	}
	text := fmt.Sprintf("%s*-%s-%s %s:%s:%s", days, calendarField(fields[4], 1), calendarField(fields[3], 1),
		calendarField(fields[2], 0), calendarField(fields[1], 0), calendarField(fields[0], 0))
	if zone := s.Zone().String(); zone != "Local" {
		text += " " + zone
	}
	return text, nil
}

func anyValue(field string) bool { return slices.Contains(strings.Split(field, ","), "*") }

// calendarField translates a field of plain values for systemd. low is the lowest value of the
// field.
func calendarField(field string, low int) string {
	if field == "*" {
		return "*"
	}
	parts := strings.Split(field, ",")
	for i, p := range parts {
		values, step, stepped := strings.Cut(p, "/")
		if values == "*" {
			values = strconv.Itoa(low)
		}
		values = strings.ReplaceAll(values, "-", "..")
		if stepped {
			values += "/" + step
		}
		parts[i] = values
	}
	return strings.Join(parts, ",")
}

// weekdays translates the field of weekdays to the names that systemd uses.
func weekdays(field string) string {
	var on [7]bool
	for _, p := range strings.Split(field, ",") {
		values, stepText, stepped := strings.Cut(p, "/")
		from, to, ranged := strings.Cut(values, "-")
		low, _ := strconv.Atoi(from)
		high, step := low, 1
		if ranged {
			high, _ = strconv.Atoi(to)
		}
		if stepped {
			step, _ = strconv.Atoi(stepText)
			if !ranged {
				high = 6
			}
		}
		for d := low; d <= high; d += step {
			on[d%7] = true
		}
	}
	var names []string
	for i, name := range []string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"} {
		if on[i] {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}

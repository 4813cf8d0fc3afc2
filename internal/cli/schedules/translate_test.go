package schedules

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/lang/cron"
	"github.com/flowrun/flowrun/internal/os/shellword"
	"github.com/flowrun/flowrun/internal/service/schedule"
	"github.com/flowrun/flowrun/internal/service/timetable"
)

// TestOtherClocks: the translation for systemd and cron means the same as the schedule, or is an
// error if that is impossible. The OnCalendar forms were checked with systemd-analyze calendar.
func TestOtherClocks(t *testing.T) {
	t.Setenv("TZ", "Europe/Zurich")
	defer func(z *time.Location) { time.Local = z }(time.Local)
	time.Local = time.FixedZone("Local", 3600) // as where TZ is not set
	for _, c := range []struct{ line, systemd, crontab string }{
		{"0 7 * * 1-5", "Mon,Tue,Wed,Thu,Fri *-*-* 7:0:0", "0 7 * * 1-5"},
		{"@daily", "*-*-* 0:0:0", "0 0 * * *"},
		{"@weekly", "Sun *-*-* 0:0:0", "0 0 * * 0"},
		{"@monthly", "*-*-1 0:0:0", "0 0 1 * *"},
		{"@yearly", "*-1-1 0:0:0", "0 0 1 1 *"},
		{"*/15 8-18/2,20 1,15 jan-mar ?", "*-1..3-1,15 8..18/2,20:0/15:0", "*/15 8-18/2,20 1,15 1-3 *"},
		{"5/20 0 */2 * *", "*-*-1/2 0:5/20:0", "5/20 0 */2 * *"},
		{"0 0 * * sat-sun", "Sun,Sat *-*-* 0:0:0", "0 0 * * 6-7"},
		{"0 0 * * */3", "Sun,Wed,Sat *-*-* 0:0:0", "0 0 * * */3"},
		{"30 0 7 * * *", "*-*-* 7:0:30", ""},
		{"CRON_TZ=Europe/Zurich 0 7 * * *", "*-*-* 7:0:0 Europe/Zurich", "0 7 * * *"},
		{"TZ=Asia/Tokyo 0 7 * * *", "*-*-* 7:0:0 Asia/Tokyo", ""},
		{"0 7 13 * 5", "", "0 7 13 * 5"},
		{"0 7 */2 * 5", "", ""},
		{"0 7 L * *", "", ""},
		{"0 7 * * FRI#2", "", ""},
		{"0 7 15W * *", "", ""},
		{"@every 15m", "", ""},
	} {
		spec, err := cron.Parse(c.line, cron.Options{Zone: time.Local})
		if err != nil {
			t.Fatal(err)
		}
		calendar, noCalendar := onCalendar(spec)
		line, noLine := crontabTime(spec)
		if calendar != c.systemd || line != c.crontab || (noCalendar == nil) != (calendar != "") || (noLine == nil) != (line != "") {
			t.Errorf("%s: systemd %q (%v), cron %q (%v); want %q and %q", c.line, calendar, noCalendar, line, noLine, c.systemd, c.crontab)
		}
	}
}

// TestParameterWords: any value of a parameter is one word in a unit and in a crontab.
func TestParameterWords(t *testing.T) {
	in := installation{program: "/opt/flow run/flowrun", home: "/home/ada"}
	for _, c := range []struct {
		value                any
		word, unit, crontabs string
	}{
		{"plain", "A=plain", `"A=plain"`, "A=plain"},
		{"two words", "A=two words", `"A=two words"`, "'A=two words'"},
		{"it's $HOME", "A=it's $HOME", `"A=it's $$HOME"`, `'A=it'\''s $HOME'`},
		{"5% \"x\"", `A:="5\u0025 \"x\""`, `"A:=\"5\\u0025 \\\"x\\\"\""`, ""},
		{"a\nb", `A:="a\nb"`, `"A:=\"a\\nb\""`, ""},
		{"@file", `A:="@file"`, `"A:=\"@file\""`, `'A:="@file"'`},
		{"é😀", `A:="\u00e9\ud83d\ude00"`, `"A:=\"\\u00e9\\ud83d\\ude00\""`, ""},
		{int64(5), "A:=5", `"A:=5"`, "A:=5"},
		{[]any{"a", true}, `A:=["a",true]`, `"A:=[\"a\",true]"`, `'A:=["a",true]'`},
	} {
		e := timetable.Entry{Schedule: schedule.Schedule{Tool: "t", Params: map[string]any{"A": c.value}}}
		words := in.runCommand(e)
		word := words[len(words)-1]
		if word != c.word || shellword.UnitArgument(word) != c.unit {
			t.Errorf("%#v: %s, in a unit %s; want %s and %s", c.value, word, shellword.UnitArgument(word), c.word, c.unit)
		}
		if c.crontabs != "" && shellword.Sh(word) != c.crontabs {
			t.Errorf("%#v: in a crontab %s, want %s", c.value, shellword.Sh(word), c.crontabs)
		}
	}
}

// TestUnitPlaces: systemd replaces variables in arguments alone, so a $ is doubled nowhere else.
func TestUnitPlaces(t *testing.T) {
	in := installation{program: "/opt/a$b 5%/flowrun", state: "/s$t"}
	text := in.serviceUnit("id", "about 5%", "/w$d 5%", "exec", "", []string{in.program, "run", "A=$x"})
	for _, line := range []string{`Description=about 5%%`, `WorkingDirectory=/w$d 5%%`, `Environment="FLOWRUN_STATE_DIR=/s$t"`, `ExecStart="/opt/a$b 5%%/flowrun" "run" "A=$$x"`} {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("%s is not in\n%s", line, text)
		}
	}
}

// TestLineBreakInPath: a folder whose name has a line break adds no line to a unit.
func TestLineBreakInPath(t *testing.T) {
	env := &ui.Env{Terminal: ui.Terminal{Stdout: io.Discard, Stderr: io.Discard}}
	in := installation{program: "/usr/bin/flowrun", home: t.TempDir()}
	err := installUnits(env, in, installFlags{dryRun: true}, []unit{in.serveUnit("/p\nExecStartPre=/bin/touch ran")})
	if err == nil || !strings.Contains(err.Error(), "has a line break") {
		t.Errorf("%v", err)
	}
}

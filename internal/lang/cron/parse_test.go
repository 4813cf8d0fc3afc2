package cron

import (
	"errors"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"
)

// must parses a valid line. Lines without a zone are in UTC.
func must(t testing.TB, line string) Spec {
	t.Helper()
	s, err := Parse(line, Options{Zone: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDescribe(t *testing.T) {
	for line, want := range map[string]string{
		"0 7 * * 1-5":                   "at 07:00 on Monday to Friday",
		"5 4,6 * * *":                   "at 04:05 and 06:05 every day",
		"30 0 7 * * *":                  "at 07:00:30 every day",
		"@daily":                        "at 00:00 every day",
		"@Hourly":                       "every hour",
		"@weekly":                       "at 00:00 on Sunday",
		"@monthly":                      "at 00:00 on day 1 of the month",
		"@yearly":                       "at 00:00 on day 1 of the month in January",
		"* * * * *":                     "every minute",
		"* * * * * *":                   "every second",
		"*/10 * * * * *":                "every 10 seconds",
		"*/15 * * * *":                  "every 15 minutes",
		"0 * * * *":                     "every hour",
		"0 */2 * * *":                   "every 2 hours",
		"15 */2 * * *":                  "at minute 15 of every 2 hours",
		"*/7 0-1 * * *":                 "at minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56 from 00:00 to 01:56",
		"*/5 0 * * * *":                 "every 5 seconds at minute 0 of every hour",
		"*/15 9-17 * * MON-FRI":         "every 15 minutes from 09:00 to 17:45 on Monday to Friday",
		"0 9-17 * * *":                  "every hour from 09:00 to 17:00",
		"0 0-23/5 * * *":                "at minute 0 of the hours 0, 5, 10, 15 and 20",
		"0 0 1,15 * *":                  "at 00:00 on days 1 and 15 of the month",
		"0 0 */2 1-3 *":                 "at 00:00 on every odd day of the month in January to March",
		"0 0 L-3,L * *":                 "at 00:00 on the last day and the last day but 3 of the month",
		"0 0 LW,3w * *":                 "at 00:00 on the weekday nearest day 3 and the last weekday of the month",
		"0 0 * * fri#3,MonL":            "at 00:00 on the third Friday and the last Monday of the month",
		"0 0 13 * 5":                    "at 00:00 on day 13 of the month or on Friday",
		"0 0 ? 2,4 SAT-SUN":             "at 00:00 on Saturday and Sunday in February and April",
		"0 0 * * 7":                     "at 00:00 on Sunday",
		"0 0 * * 5-7":                   "at 00:00 on Friday to Sunday",
		"0 0 * * 0-7":                   "at 00:00 on Monday to Sunday",
		"0 0 * * 1-7/2":                 "at 00:00 on Monday, Wednesday, Friday and Sunday",
		"0 0 * * 7/2":                   "at 00:00 on Tuesday, Thursday, Saturday and Sunday",
		"50/5 0 * * *":                  "at 00:50 and 00:55 every day",
		"TZ=Europe/Zurich 0 0 * * *":    "at 00:00 every day, Europe/Zurich",
		"CRON_TZ=Asia/Tokyo @daily":     "at 00:00 every day, Asia/Tokyo",
		"@every 90m":                    "every 1h30m",
		"CRON_TZ=Asia/Tokyo @every 60s": "every 1m",
	} {
		s := must(t, line)
		if s.Interval() == 0 && !strings.Contains(want, "/") {
			want += ", UTC"
		}
		if got := s.Describe(); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

func TestString(t *testing.T) {
	for line, want := range map[string]string{
		" 0  7 * * mon ":           "CRON_TZ=UTC 0 7 * * MON",
		"TZ=Europe/Zurich @Daily":  "CRON_TZ=Europe/Zurich @daily",
		"0 0 7 ? * *":              "CRON_TZ=UTC 0 7 ? * *",
		"@every 5400s":             "CRON_TZ=UTC @every 1h30m",
		"CRON_TZ=Local\t0 0 * * *": "CRON_TZ=Local 0 0 * * *",
	} {
		if got := must(t, line).String(); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
	s, err := Parse("0 7 * * *", Options{})
	if err != nil || s.String() != "0 7 * * *" || s.Zone() != time.Local || !strings.HasSuffix(s.Describe(), ", local time") {
		t.Errorf("%q %v %v", s, s.Zone(), err)
	}
	if (Spec{}).Describe() != "never" || !(Spec{}).Next(time.Now()).IsZero() || (Spec{}).Note(time.Now()) != "" {
		t.Error("the zero Spec fires")
	}
}

func TestRefused(t *testing.T) {
	type problem struct {
		off   int
		field string
		says  string
	}
	for line, want := range map[string][]problem{
		"":                                      {{0, "", "no fields: five are needed"}},
		"CRON_TZ=UTC":                           {{0, "", "no fields"}},
		"* * * *":                               {{0, "", "there are 4 fields, but five are needed"}},
		"x":                                     {{0, "", "there is 1 field"}},
		"* * * * * * 2026":                      {{12, "", "no field for the year; to limit a schedule to a year, set its start and end"}},
		"* * * * * * * *":                       {{12, "", "there are 8 fields"}},
		"60 * * * *":                            {{0, "minute", "60 is out of range: allowed are 0 to 59"}},
		"60 24 32 13 8":                         {{0, "minute", "60"}, {3, "hour", "24"}, {6, "day of month", "32"}, {9, "month", "13"}, {12, "day of week", "8"}},
		"0 0 * * 1,9,FOO":                       {{10, "day of week", "9 is out"}, {12, "day of week", `invalid value "FOO"`}},
		"99999999999999999999 * * * *":          {{0, "minute", "out of range"}},
		"0 0 30 2 *":                            {{4, "day of month", "30 does not occur in February, so this would never fire"}},
		"0 0 31 2,4,6 *":                        {{4, "day of month", "in February, April or June"}},
		"0 0 31W 4 *":                           {{4, "day of month", "31W does not occur in April"}},
		"0 0 L-30 4 *":                          {{4, "day of month", "L-30 does not occur in April"}},
		"@reboot":                               {{0, "", "@reboot is not supported"}},
		"@fortnightly":                          {{0, "", "use one of @hourly, @daily"}},
		"@daily 5":                              {{7, "", "nothing may follow @daily"}},
		"@every":                                {{0, "", "@every takes one interval"}},
		"@every 1ns":                            {{7, "interval", "at least 1s"}},
		"@every 1500ms":                         {{7, "interval", "of whole seconds"}},
		"@every -5m":                            {{7, "interval", "at least 1s"}},
		"@every 1mo":                            {{7, "interval", "a day has 24 hours; for calendar days, use fields"}},
		"TZ=Mars/X 0 0 * * *":                   {{3, "time zone", `"Mars/X" is not known`}},
		"TZ=../UTC @daily":                      {{3, "time zone", "not known"}},
		"CRON_TZ= 0 0 * * *":                    {{8, "time zone", "the name is missing"}},
		"TZ=M/X 61 0 * * *":                     {{3, "time zone", "M/X"}, {7, "minute", "61"}},
		"*/90 * * * *":                          {{2, "minute", "the maximum is 60; to run every 90m, write @every 90m"}},
		"*/0 * * * *":                           {{2, "minute", "a number from 1 to 60"}},
		"*/ * * * *":                            {{2, "minute", "write a number from 1 to 60 after"}},
		"1/2/3 * * * *":                         {{2, "minute", `invalid step "2/3"`}},
		"1- * * * *":                            {{2, "minute", "a value is missing"}},
		"-5 * * * *":                            {{0, "minute", "a value is missing"}},
		"+5 * * * *":                            {{0, "minute", `invalid value "+5"`}},
		"1,,2 * * * *":                          {{0, "minute", "empty list element"}},
		"? * * * *":                             {{0, "minute", `invalid value "?"`}},
		"H * * * *":                             {{0, "minute", "give the schedule a jitter"}},
		"0 22-2 * * *":                          {{2, "hour", "ranges cannot wrap around; write 22-23,0-2"}},
		"0 0 * * FRI-MON":                       {{8, "day of week", "write FRI-SAT,SUN-MON"}},
		"0 0 * * 7-2":                           {{8, "day of week", "write SUN-TUE"}},
		"0 0 * * 5-0":                           {{8, "day of week", "write FRI-SAT,SUN"}},
		"0 0 * NOV-FEB *":                       {{6, "month", "write NOV-DEC,JAN-FEB"}},
		"0 0 * * MONDAY":                        {{8, "day of week", "write MON"}},
		"0 0 L-31 * *":                          {{4, "day of month", "from 1 to 30"}},
		"0 0 32W * *":                           {{4, "day of month", "from 1 to 31"}},
		"0 0 1-5W * *":                          {{4, "day of month", "in nW, n is a day"}},
		"0 0 * * L":                             {{8, "day of week", "FRIL or 5L is the last Friday"}},
		"0 0 * * FRI#6":                         {{8, "day of week", "from 1 to 5"}},
		"0 0 * * 9L":                            {{8, "day of week", "9 is out of range"}},
		"0 0 * * \x1b[31m":                      {{8, "day of week", `invalid value "\x1b[31m"`}},
		"0 0 * * ıſ":                            {{8, "day of week", "invalid value"}},
		strings.Repeat("1,", 600) + "1 * * * *": {{0, "", "the limit is"}},
	} {
		s, err := Parse(line, Options{Zone: time.UTC})
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%q: %v, %v; want an error", line, s, err)
			continue
		}
		if len(e.Problems) != len(want) {
			t.Errorf("%q: %v; want %d problems", line, err, len(want))
			continue
		}
		for i, p := range e.Problems {
			if p.Off != want[i].off || p.Field != want[i].field || !strings.Contains(p.String(), want[i].says) {
				t.Errorf("%q: at %d, %q: %s; want %+v", line, p.Off, p.Field, p, want[i])
			}
			if p.Off+p.Len > len(line) {
				t.Errorf("%q: %d bytes at %d are not in the line", line, p.Len, p.Off)
			}
		}
		if strings.ContainsRune(err.Error(), 0x1b) {
			t.Errorf("%q: the message is not fit for a terminal", line)
		}
	}
}

// FuzzParse checks that any text gives a Spec that is parsed back the same, or problems inside the text.
func FuzzParse(f *testing.F) {
	for _, line := range []string{"0 7 * * 1-5", "CRON_TZ=Europe/Zurich */15 0 7-9/2 L-3,LW,15W jan-mar FRIL,fri#3", "@every 1h30m", "TZ=UTC @daily", "60 * * * *", "0 0 30 2 *", "0 0 ? * 7/2", "0 0 0 7-mAY 0", "ı * * * *"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		s, err := Parse(line, Options{Zone: time.UTC})
		if err != nil {
			for _, p := range err.(*Error).Problems {
				if p.Off < 0 || p.Len < 0 || p.Off+p.Len > len(line) || p.Message == "" {
					t.Fatalf("%q: %+v", line, p)
				}
			}
			return
		}
		again, err := Parse(s.String(), Options{Zone: time.FixedZone("elsewhere", 3600)})
		if err != nil || !again.Equal(s) || again.String() != s.String() {
			t.Fatalf("%q: %q reads back as %q, %v", line, s, again, err)
		}
		if s.Describe() != again.Describe() || s.Describe() == "" {
			t.Fatalf("%q: %q, then %q", line, s.Describe(), again.Describe())
		}
	})
}

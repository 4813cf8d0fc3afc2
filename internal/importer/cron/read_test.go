package cron_test

import (
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/importer"
	"github.com/flowrun/flowrun/internal/importer/cron"
	"github.com/flowrun/flowrun/internal/test/importtest"
)

// read reads a crontab: that of a system, if --system is its first line.
func read(src string) (*importer.Result, error) {
	text, system := strings.CutPrefix(src, "--system\n")
	return cron.Read([]byte(text), system)
}

var features = []importtest.Feature{
	{"the five time fields, names, ranges, steps", "0 7 * * mon-fri echo x", importtest.Changed, "cron: 0 7 * * mon-fri"},
	{"`@daily` and the like", "@daily echo x", importtest.Changed, "cron: '@daily'"},
	{"`@reboot`, random times (`0~59`)", "@reboot echo x", importtest.Left, "Left out: the schedule @reboot"},
	{"`*/2` in one day field and another day field", "0 7 */2 * 1 echo x", importtest.Left, "Left out: the schedule"},
	{"a step without a range (`5/10`)", "5/10 * * * * echo x", importtest.Changed, "# Changed: some crons run 5/10 only at 5"},
	{"six time fields", "0 */6 * * * * echo x", importtest.Left, ""},
	{"variables", "A=b c\n", importtest.Exact, ""},
	{"`SHELL` (sh, bash)", "SHELL=/bin/bash\n", importtest.Exact, ""},
	{"`CRON_TZ`, `TZ`", "CRON_TZ=Europe/Zurich\n", importtest.Exact, ""},
	{"`MAILTO` with addresses", "MAILTO=a@example.com,b@example.com\n0 7 * * * echo x", importtest.Changed, "notify:\n  - email:\n      to:\n        - a@example.com\n        - b@example.com"},
	{"`MAILTO` with a user", "MAILTO=me\n", importtest.Left, ""},
	{"`%` in a command", "0 7 * * * cat%a%b", importtest.Changed, "input: |\n      a\n      b"},
	{"the user of a system crontab (`--system`)", "--system\n0 7 * * * root echo x", importtest.Changed, "as the user root"},
}

func TestFeatures(t *testing.T) { importtest.Features(t, "Crontabs", read, features) }

// badInputs are files that have mistakes, or that ask for what flowrun does not do.
var badInputs = []string{
	"not a crontab",
	"0 7 * *\n",
	"61 7 * * * echo x\n",
	"0 7 30 2 * echo x\n",
	"@fortnightly echo x\n",
	"SHELL=/usr/bin/fish\n0 7 * * * echo x\n",
	"CRON_TZ=Mars/Base\n0 7 * * * echo x\n",
	"--system\n0 7 * * * root\n",
	"0 7 * * * root echo x\n",
}

func TestBadInputs(t *testing.T) { importtest.BadInputs(t, read, badInputs) }

func FuzzRead(f *testing.F) { importtest.Fuzz(f, read, features, badInputs) }

package schedules

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/os/shellword"
	"github.com/flowrun/flowrun/internal/service/timetable"
)

// findSchedule returns the schedule that a word on the command line means. Its errors say what to write instead.
func findSchedule(t *timetable.Timetable, word string) (timetable.Entry, error) {
	e, err := t.Find(word)
	var missing *timetable.NotFoundError
	var several *timetable.AmbiguousError
	switch {
	case errors.As(err, &several):
		return e, ui.Usage(err, nil)
	case !errors.As(err, &missing):
		return e, err
	case strings.ContainsAny(word, `/\`) || filepath.Ext(word) != "":
		return e, ui.Missing(fmt.Errorf("%w: a schedule has the name of its tool, whose file is in a tool folder such as .flowrun/tools; to add one: flowrun schedule add %s --cron EXPR", err, shellword.Sh(word)))
	}
	return e, ui.Missing(fmt.Errorf("%w%s", err, ui.AddHint(ui.Nearest(word, missing.Names), "to list all schedules: flowrun schedule list")))
}

package notify

import (
	"cmp"
	"os"
	"strconv"
	"strings"
	"time"
)

// Text returns the message about an outcome.
func (r Rule) Text(o Outcome) string {
	if r.Message == "" {
		return o.Text()
	}
	return o.fill(r.Message)
}

// subject returns the subject of an e-mail.
func (r Rule) subject(o Outcome) string {
	return strings.Join(strings.Fields(o.fill(cmp.Or(r.Subject, "flowrun: {run.summary}"))), " ")
}

// fill replaces each {run.NAME} in a text by its value. Values are not read again, so that a
// brace in one of them stays a brace. The names are those of notifyrule.Fields.
func (o Outcome) fill(text string) string {
	if !strings.Contains(text, "{run.") {
		return text
	}
	r := o.Result
	host, _ := os.Hostname()
	started, duration := "", ""
	if !r.Started.IsZero() {
		started = r.Started.UTC().Format(time.RFC3339)
		if d := r.Duration(); d > 0 {
			duration = d.Round(time.Millisecond).String()
		}
	}
	return strings.NewReplacer(
		"{run.id}", r.ID, "{run.tool}", r.Tool, "{run.status}", o.status(), "{run.event}", string(o.Event),
		"{run.exit-code}", strconv.Itoa(r.ExitCode), "{run.message}", o.Text(), "{run.summary}", o.Summary(),
		"{run.host}", host, "{run.started}", started, "{run.duration}", duration,
	).Replace(text)
}

// Ended returns when the run ended, or now if it has not, for the lines of a digest.
func (o Outcome) Ended() string {
	at := o.Result.Ended
	if at.IsZero() {
		at = time.Now()
	}
	return at.Local().Format("2006-01-02 15:04")
}

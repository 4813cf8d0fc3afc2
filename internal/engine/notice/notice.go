// Package notice has the kinds of notices of a run, and how they are written for people.
//
// # The model
//
// A status says how a run ended. Whatever else a person should know of it is a Notice: a background
// process was stopped, an output was not cached, a cleanup failed, a limit holds for each process
// only. Whoever meets it makes one. The run passes it on at once, and records it with its next
// event, so that everything that shows the run later shows it too. Programs read the Code, which
// never changes its meaning; people read the Message, which says all that they need.
//
// Kinds lists the codes. A Kind decides which of its notices a model gets.
package notice

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/lang/plural"
	"github.com/flowrun/flowrun/internal/os/shellword"
)

// Notice is something that people should know.
type Notice = dag.Notice

// Codes of notices.
const (
	Background    = "background-ended"
	CleanupFailed = "cleanup-failed"
	CPU           = "cpu-limit"
	EnvFile       = "env-file"
	Escaped       = "escaped"
	LostState     = "lost-state"
	Memory        = "memory-limit"
	More          = "more-notices"
	Network       = "network-refused"
	NoInputs      = "no-inputs"
	NotAsked      = "not-asked"
	NotCached     = "not-cached"
	NotResumable  = "not-resumable"
	NotRetried    = "not-retried"
	OutputOpen    = "output-open"
	Limited       = "parallel-limit"
	Shortage      = "shortage"
	Stream        = "stream"
	Tolerated     = "tolerated-failure"
	Truncated     = "truncated"
	Unanswered    = "unanswered"
	Undeclared    = "undeclared"
	Unenforced    = "unenforced"
	Unset         = "unset-variable"
	Withheld      = "withheld-variable"
)

// Kind is what all notices with a code have in common.
type Kind struct {
	Code    string
	Meaning string // one clause, for the log of the service and the reference
	// Changes means that the result may differ from what it would be without this. A model gets only such notices:
	// the others are about the machine and its settings, which are for a person.
	Changes bool
	// InSuccess means that the status of a run that succeeded says it already: "succeeded (cleanup failed)".
	InSuccess bool
	// OfStep means that every list of the steps says it.
	OfStep bool
}

// kinds are all kinds, ordered by their codes.
var kinds = []Kind{
	{Code: Background, Meaning: "processes outlived their step and were stopped when the run ended"},
	{Code: CleanupFailed, Meaning: "a cleanup failed, of the tool or of one that it uses", Changes: true, InSuccess: true},
	{Code: CPU, Meaning: "the CPU time is limited for each process, and not for the step"},
	{Code: EnvFile, Meaning: "an env file can be used but looks wrong", Changes: true},
	{Code: Escaped, Meaning: "processes or containers that belong to the run, or may, are still running"},
	{Code: LostState, Meaning: "the tool has no state, but had some when its definition was in another file, which is gone", Changes: true},
	{Code: Memory, Meaning: "the memory is limited for each process, and not for the step"},
	{Code: More, Meaning: "the run has more notices than are kept"},
	{Code: Network, Meaning: "a connection was refused, because the permissions of the tool do not grant it", Changes: true},
	{Code: NoInputs, Meaning: "a cached result was reused although no file matches the inputs of the step", Changes: true},
	{Code: NotAsked, Meaning: "nobody could be asked for an answer"},
	{Code: NotCached, Meaning: "the result of a step was not cached"},
	{Code: NotResumable, Meaning: "the run cannot be resumed, or only by its program, or not behind one of its steps"},
	{Code: NotRetried, Meaning: "the run is not retried automatically, although its tool has retry-run"},
	{Code: OutputOpen, Meaning: "a background process was still printing into the output of a step that had ended", Changes: true},
	{Code: Limited, Meaning: "a loop asks for more parallel items than steps may run at once"},
	{Code: Shortage, Meaning: "steps wait, or fewer run at once, because this process may not open more files or start more processes"},
	{Code: Stream, Meaning: "streamed output was not passed on completely; the logs have it"},
	{Code: Tolerated, Meaning: "a step failed, and the run continued because its failure is tolerated", Changes: true, OfStep: true},
	{Code: Truncated, Meaning: "a step read an output that was truncated at its buffer-limit", Changes: true},
	{Code: Unanswered, Meaning: "nobody answered an interactive step"},
	{Code: Undeclared, Meaning: "a value was given for a parameter that the tool does not declare", Changes: true},
	{Code: Unenforced, Meaning: "permissions or limits that this machine cannot enforce"},
	{Code: Unset, Meaning: "a variable that is not set was read, or named as a secret", Changes: true},
	{Code: Withheld, Meaning: "a confined step names a variable of its caller that it does not get", Changes: true},
}

// Kinds returns all kinds of notices, ordered by their codes.
func Kinds() []Kind { return slices.Clone(kinds) }

// KindOf returns the kind of a code. For a code of another version it has only the code.
func KindOf(code string) Kind {
	for _, k := range kinds {
		if k.Code == code {
			return k
		}
	}
	return Kind{Code: code}
}

// OfCleanup returns the notice about a failed cleanup. step is the step that ran it, and tool the one that uses the tool, ""
// for the tool of the run.
func OfCleanup(step, tool dag.ID, why string) Notice {
	text := "the cleanup failed: " + why
	if tool != "" {
		text = fmt.Sprintf("the cleanup of step %s failed: %s", tool, why)
	}
	return Notice{Code: CleanupFailed, Step: step, Message: text}
}

// OfLimit returns the notice that fewer items of a loop run at once than its max-parallel says, if that is so. most is how
// many steps may run at once.
func OfLimit(loop dag.ID, maxParallel, items, most int) (n Notice, limited bool) {
	return Notice{Code: Limited, Step: loop, Message: fmt.Sprintf(
			"max-parallel %d of step %s is limited to %d by limits.max-parallel; to raise it: set limits.max-parallel, or flowrun run --max-parallel %[1]d", maxParallel, loop, most)},
		most > 0 && min(maxParallel, items) > most
}

// OfLostState returns the notice that a tool begins without the values that it had in another file. The values are left out.
func OfLostState(id history.StateID, lost []history.StateValue) Notice {
	return Notice{Code: LostState, Message: fmt.Sprintf("tool %s has no state here, but had some in %s, which does not exist any more; to take it over: %s",
		id.Tool, lost[0].File, AdoptState(id))}
}

// AdoptState returns the command that takes over the values that a tool had in another file.
func AdoptState(id history.StateID) string { return "flowrun state adopt " + shellword.Sh(id.File) }

// BesideStatus returns the notices that the status of the run, with its notes and its steps, does not say already.
func BesideStatus(status dag.Status, list []Notice) (beside []Notice) {
	for _, n := range list {
		if k := KindOf(n.Code); !k.OfStep && !(k.InSuccess && status == dag.Succeeded) {
			beside = append(beside, n)
		}
	}
	return beside
}

// Count returns how many notices there are, as an addition to the status of a run; "" for none.
func Count(list []Notice) string {
	if len(list) == 0 {
		return ""
	}
	return plural.Of(len(list), "notice")
}

// ForModel returns the notices for a model.
func ForModel(list []Notice) (given []Notice) {
	for _, n := range list {
		if KindOf(n.Code).Changes {
			given = append(given, n)
		}
	}
	return given
}

// maxLines is how many notices with one code are written out.
const maxLines = 10

// Lines returns notices as lines for people, each line once. Of many with the same code it writes the first, and how many
// more there are.
func Lines(list []Notice) (lines []string) {
	said := map[string]bool{}
	count := map[string]int{} // lines of a code so far
	more := map[string]int{}  // the index of the last line of a code that has too many
	for _, n := range list {
		if said[n.Message] {
			continue
		}
		said[n.Message] = true
		count[n.Code]++
		switch extra := count[n.Code] - maxLines; {
		case extra <= 0:
			lines = append(lines, n.Message)
			continue
		case extra == 1:
			more[n.Code], lines = len(lines), append(lines, "")
			fallthrough
		default:
			lines[more[n.Code]] = fmt.Sprintf("and %d more: %s", extra, cmp.Or(KindOf(n.Code).Meaning, n.Code))
		}
	}
	return lines
}

package outcome

// Codes of answers to a model; package registry says what each means.
const (
	AnswerFailed            = "failed"
	AnswerUsage             = "usage" // the command line of flowrun call is wrong
	AnswerInvalidDefinition = "invalid-definition"
	AnswerNotFound          = "not-found"
	AnswerNotApproved       = "not-approved"
	AnswerDeclined          = "declined"
	AnswerInvalid           = "invalid"
	AnswerMissing           = "missing"
	AnswerWaiting           = "waiting"
	AnswerInterrupted       = "interrupted"
	AnswerTimeout           = "timeout"
	AnswerCancelled         = "cancelled"
	AnswerNotRun            = "not-run"
)

// Answer is what goes with a code of an answer to a model.
type Answer struct {
	Status string // execution_status
	Exit   int    // of flowrun call, or ExitOfError
}

// ExitOfError is the exit code of an Answer where the error behind it has one.
const ExitOfError = -1

var answers = map[string]Answer{
	AnswerFailed:            {"error", ExitFailed},
	AnswerUsage:             {"error", ExitOfError},
	AnswerInvalidDefinition: {"error", ExitInvalid},
	AnswerNotFound:          {"error", ExitNotFound},
	AnswerNotApproved:       {"refused", ExitRefused},
	AnswerDeclined:          {"refused", ExitRefused},
	AnswerInvalid:           {"refused", ExitParams},
	AnswerMissing:           {"refused", ExitParams},
	AnswerWaiting:           {"error", ExitWaiting},
	AnswerInterrupted:       {"error", ExitWaiting},
	AnswerTimeout:           {"timeout", ExitTimeout},
	AnswerCancelled:         {"cancelled", ExitInterrupted}, // or the signal's
	AnswerNotRun:            {"error", ExitOfError},
}

// AnswerOf is what goes with a code. The codes that are not in the table are those of texts
// that package repair refuses.
func AnswerOf(code string) Answer {
	if a, ok := answers[code]; ok {
		return a
	}
	return answers[AnswerInvalid]
}

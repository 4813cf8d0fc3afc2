package outcome

// Codes of answers to a model. Package registry documents them.
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

// Answer belongs to the code of an answer to a model.
type Answer struct {
	Status string // execution_status
	Exit   int    // exit code of flowrun call, or ExitOfError
}

// ExitOfError means that flowrun call exits with the code of the error behind the Answer.
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
	AnswerCancelled:         {"cancelled", ExitInterrupted}, // or the code of the signal
	AnswerNotRun:            {"error", ExitOfError},
}

// AnswerOf returns the Answer for a code. A code that is not in the table comes from package repair, which rejected
// the text of a call.
func AnswerOf(code string) Answer {
	if a, ok := answers[code]; ok {
		return a
	}
	return answers[AnswerInvalid]
}

package plan

// Interrupt says what happens to a step that was running when flowrun was killed. The values are those of
// on-interrupt.
type Interrupt string

const (
	AskWhenInterrupted   Interrupt = "ask"   // a person decides
	RetryWhenInterrupted Interrupt = "retry" // it runs again
	FailWhenInterrupted  Interrupt = "fail"  // it counts as failed for good
)

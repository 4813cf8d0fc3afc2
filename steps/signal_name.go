package steps

import "fmt"

// endedBySignal is the message of a command that a signal ended: its number and what the
// system calls it.
const endedBySignal = "ended by signal %d (%v)"

// SignalIn is the name of the signal that ended a command, as in SIGKILL, by the message of
// its result; "" where none did.
func SignalIn(message string) string {
	var number int
	if n, _ := fmt.Sscanf(message, endedBySignal[:len("ended by signal %d")], &number); n != 1 {
		return ""
	}
	if name := signalNames[number]; name != "" {
		return name
	}
	return fmt.Sprintf("signal %d", number)
}

// signalNames are those that have the same number on every Unix.
var signalNames = map[int]string{1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 8: "SIGFPE", 9: "SIGKILL",
	11: "SIGSEGV", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM"}

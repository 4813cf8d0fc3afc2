package steps

import "fmt"

// endedBySignal is the format of the message of a command that a signal ended: the number and the
// system's name of the signal.
const endedBySignal = "ended by signal %d (%v)"

// SignalIn returns the name, such as SIGKILL, of the signal in the message of a Result, "signal N"
// if its name is unknown, or "".
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

// signalNames contains the signals with the same number on every Unix.
var signalNames = map[int]string{1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 8: "SIGFPE", 9: "SIGKILL",
	11: "SIGSEGV", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM"}

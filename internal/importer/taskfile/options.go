package taskfile

// options are the options of set that go-task has: their letters, or their names if bash has no letter.
func options() map[string]string {
	known := map[string]string{"pipefail": "pipefail"}
	for name, letter := range map[string]string{"errexit": "e", "nounset": "u", "xtrace": "x", "noglob": "f", "noexec": "n", "allexport": "a"} {
		known[name], known[letter] = letter, letter
	}
	return known
}

// unknownOption returns why a task with these options of set is left out, or "".
func unknownOption(names []string) (why string) {
	for _, o := range names {
		if options()[o] == "" {
			return "set: " + short(o) + " is not an option that flowrun knows"
		}
	}
	return ""
}

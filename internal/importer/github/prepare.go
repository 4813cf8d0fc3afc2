package github

import (
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/importer"
)

// leave notes that a step is left out. The steps below it are left out too, unless it only prepares the machine or runs
// only after a failure: it may have checked something, or made what they work on.
func (j *job) leave(s importer.Node, label string) {
	uses := s.Get("uses").Text()
	switch action, _, _ := strings.Cut(uses, "@"); {
	case afterFailure(s):
	case strings.HasPrefix(action, "actions/setup-"):
		j.prepared = append(j.prepared, label+" ("+short(uses)+")")
	case j.gap == "" && !onlyFiles(action, s.Get("with")):
		j.gap = label
		j.lost.Part(label, "")
	}
}

// afterFailure reports whether a step can run only if one above has failed or the run was cancelled.
func afterFailure(s importer.Node) bool {
	when := expression(s.Get("if").Text())
	return when == "failure()" || when == "cancelled()"
}

// onlyFiles reports whether an action only gets or keeps files that are in the folder already. With some inputs it gets
// others, or fails if there are none.
func onlyFiles(action string, with importer.Node) bool {
	var special []string
	switch action {
	case "actions/checkout":
		special = []string{"repository", "ref", "path", "submodules", "lfs", "sparse-checkout"}
	case "actions/cache", "actions/cache/restore", "actions/cache/save":
		special = []string{"fail-on-cache-miss"}
	case "actions/upload-artifact":
		special = []string{"if-no-files-found"}
	default:
		return false
	}
	return !slices.ContainsFunc(with.Pairs(), func(p importer.Pair) bool { return slices.Contains(special, p.Key) })
}

// differs are how the steps below differ that are carried over.
func (j *job) differs() []string {
	if len(j.prepared) == 0 {
		return nil
	}
	return []string{"it may need what a step that is left out would have done: " + strings.Join(j.prepared, ", ")}
}

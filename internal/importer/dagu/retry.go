package dagu

import (
	"fmt"
	"strconv"

	"github.com/flowrun/flowrun/internal/importer"
)

// shortest is the shortest delay of flowrun. Dagu retries at once if there is no interval.
const shortest = "1ms"

// retry reads retryPolicy. It returns why the step cannot be carried over.
func retry(s *importer.Step, n importer.Node) (why string) {
	s.Delay = shortest
	delay, longest := 0, 0
	for _, p := range n.Pairs() {
		if key(p.Key) == "exitcode" {
			if s.ExitCodes = exitCodes(p.Node); s.ExitCodes == nil {
				return p.Key + " of its retryPolicy is not understood"
			}
			continue
		}
		v, err := strconv.Atoi(p.Text())
		switch key(p.Key) {
		case "limit":
			if err != nil || v < 0 || v > 1000 {
				return fmt.Sprintf("its retryPolicy has the limit %q, which is not a number", p.Text())
			}
			s.Attempts = v
		case "intervalsec":
			if err != nil || v < 0 || v > 1e7 {
				return fmt.Sprintf("its retryPolicy has the interval %q, which is not a number", p.Text())
			}
			if delay = v; v > 0 {
				s.Delay = fmt.Sprintf("%ds", v)
			}
		case "backoff":
			switch factor, err := strconv.ParseFloat(p.Text(), 64); {
			case p.Text() == "true", err == nil && factor == 2:
				s.Doubles = true
			case p.Text() != "false":
				return "flowrun doubles the interval of a retry, and does not multiply it by " + short(p.Text())
			}
		case "maxintervalsec":
			if err != nil || v < 1 || v > 1e7 {
				return p.Key + " of its retryPolicy is not understood"
			}
			longest = v
		default:
			return "flowrun has no counterpart for " + p.Key + " of its retryPolicy"
		}
	}
	if s.Doubles && longest > 0 {
		if longest < delay {
			return "maxIntervalSec of its retryPolicy is less than intervalSec"
		}
		s.MaxDelay = fmt.Sprintf("%ds", longest)
	}
	return ""
}

// exitCodes returns the exit codes of a list, or nil if one is none.
func exitCodes(n importer.Node) []int {
	var codes []int
	for _, text := range n.Texts() {
		v, err := strconv.Atoi(text)
		if err != nil || v < 1 || v > 255 {
			return nil
		}
		codes = append(codes, v)
	}
	return codes
}

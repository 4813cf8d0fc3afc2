package notify

import (
	"encoding/json"
	"strings"
)

// maxSlackText is how many characters a section of a message may have.
const maxSlackText = 3000

// slackMessage is a message for an incoming webhook of Slack. Mattermost, Rocket.Chat and
// Discord (its /slack address) accept the same.
type slackMessage struct {
	Text   string       `json:"text"` // for notifications of the program, and where blocks are not supported
	Blocks []slackBlock `json:"blocks"`
}

type slackBlock struct {
	Type     string      `json:"type"`
	Text     *slackText  `json:"text,omitempty"`
	Elements []slackText `json:"elements,omitempty"`
}

type slackText struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// slackBody encodes the notification for Slack. What comes from the run is text: it cannot
// make links or mention people.
func (r Rule) slackBody(o Outcome) ([]byte, error) {
	mark := slackMark(o.Event) + " "
	context := "{run.event} · {run.host}"
	if o.hasRun() {
		context += " · run {run.id}"
	}
	text := shortened(slackEscape(r.Text(o)), maxSlackText-len(mark))
	return json.Marshal(slackMessage{Text: text, Blocks: []slackBlock{
		{Type: "section", Text: &slackText{"mrkdwn", mark + text}},
		{Type: "context", Elements: []slackText{{"mrkdwn", slackEscape(o.fill(context))}}},
	}})
}

// shortened returns the beginning of an escaped text, at most limit characters. No escaped character is cut.
func shortened(text string, limit int) string {
	long := []rune(text)
	if len(long) <= limit {
		return text
	}
	text = string(long[:limit-3])
	if at := strings.LastIndexByte(text, '&'); at >= 0 && !strings.Contains(text[at:], ";") {
		text = text[:at]
	}
	return text + "..."
}

// slackEscape replaces the characters that have a meaning in Slack's mrkdwn for links and mentions.
func slackEscape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

func slackMark(e Event) string {
	switch e {
	case Success, Recovery:
		return ":white_check_mark:"
	case Waiting, Interrupted, Attention:
		return ":raised_hand:"
	case Cancelled:
		return ":no_entry_sign:"
	}
	return ":x:"
}

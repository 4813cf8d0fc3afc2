package config

import "testing"

// A notification whose name ends in .email is not the e-mail of another one.
func TestNotificationNamedEmail(t *testing.T) {
	list := notifications([]Value{
		{Key: "notifications.ops.email.webhook", Value: "https://example.com/a"},
		{Key: "notifications.ops.email.to", Value: "a@example.com"},
		{Key: "notifications.x.email.email.subject", Value: "s"},
	})
	if len(list) != 3 || list[0].Name != "ops.email" || list[0].Email || list[0].Webhook == "" {
		t.Errorf("%+v", list)
	}
}

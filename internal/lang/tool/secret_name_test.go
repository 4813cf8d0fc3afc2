package tool

import "testing"

func TestLooksSecret(t *testing.T) {
	for name, want := range map[string]bool{
		"TOKEN": true, "GITHUB_TOKEN": true, "githubToken": true, "auth-token": true, "PGPASSWORD": true, "passwd": true,
		"API_KEY": true, "apiKey": true, "AWS_SECRET_ACCESS_KEY": true, "private-key": true, "CLIENT_SECRET": true, "credential": true, "DB_PASS": true, "db-pwd": true,
		"": false, "PASS": false, "BYPASS": false, "KEY": false, "PUBLIC_KEY": false, "TOKENIZER": false, "KEYBOARD": false, "SECRETARY": false, "PASSWORD_LENGTH": false,
	} {
		if got := LooksSecret(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

package compile_test

import "testing"

// TestShortSecret: a secret with which a step would fail, because it cannot be masked, is reported before anything runs.
func TestShortSecret(t *testing.T) {
	t.Parallel()
	auth := func(auth string) string {
		return "steps:\n  - {name: a, http: {url: 'https://example.org', auth: " + auth + "}}"
	}
	const short = "cannot mask the secret: it has fewer than 4 characters"
	testWrong(t, nil, map[string]wrong{
		"a password":     {auth(`{basic: {user: u, password: x}}`), []string{"4:84 unknown-secret"}, short},
		"a token":        {auth(`{bearer: abc}`), []string{"4:65 unknown-secret"}, short},
		"a line":         {auth(`{bearer: "abc\n"}`), []string{"4:66 unknown-secret"}, short},
		"a masked value": {"steps:\n  - {name: a, bash: echo, output: {masked-values: [ab]}}", []string{"4:52 unknown-secret"}, short},
	})
}

package compile_test

import (
	"strings"
	"testing"
)

// TestBadSSH: what is wrong with ssh is reported before anything runs, with its place.
func TestBadSSH(t *testing.T) {
	t.Parallel()
	step := func(keys string) string { return "steps:\n  - {name: a, sh: echo, " + keys + "}" }
	testWrong(t, map[string]string{"other": "run: echo"}, map[string]wrong{
		"an empty host":             {step(`ssh: ""`), []string{"4:31 bad-address"}, "the host is empty"},
		"no host":                   {step(`ssh: {user: joe}`), []string{"4:30 no-value"}, "ssh has no host"},
		"a list of hosts":           {step(`ssh: [a, b]`), []string{"4:30 wrong-type"}, `write for-each: {items: [a, b], as: host, key: "{host}"}`},
		"a list under host":         {step(`ssh: {host: [a, b]}`), []string{"4:37 wrong-type"}, `write for-each: {items: [a, b], as: host, key: "{host}"}`},
		"an option as host":         {step(`ssh: -oProxyCommand=x`), []string{"4:30 bad-address"}, "does not begin with '-'"},
		"a user in the host":        {step(`ssh: joe@web1`), []string{"4:30 bad-address"}, "write the user under user"},
		"a port in the host":        {step(`ssh: web1:22`), []string{"4:30 bad-address"}, "write the port under port"},
		"a host with spaces":        {step(`ssh: web 1`), []string{"4:30 bad-address"}, `invalid host "web 1"`},
		"a command as host":         {step(`ssh: $(x)`), []string{"4:30 bad-address"}, "invalid host"},
		"a URL as host":             {step(`ssh: "ssh://web1"`), []string{"4:31 bad-address"}, "invalid host"},
		"a long host":               {step(`ssh: ` + strings.Repeat("h", 256)), []string{"4:30 bad-address"}, "more than 255"},
		"an empty user":             {step(`ssh: {host: h, user: ""}`), []string{"4:47 bad-address"}, "the user is empty"},
		"an option as user":         {step(`ssh: {host: h, user: -l}`), []string{"4:46 bad-address"}, "invalid user"},
		"a user with spaces":        {step(`ssh: {host: h, user: a b}`), []string{"4:46 bad-address"}, "invalid user"},
		"port 0":                    {step(`ssh: {host: h, port: 0}`), []string{"4:46 bad-address"}, "from 1 to 65535"},
		"a high port":               {step(`ssh: {host: h, port: 65536}`), []string{"4:46 bad-address"}, "from 1 to 65535"},
		"a port that is a word":     {step(`ssh: {host: h, port: ssh}`), []string{"4:46 bad-address"}, `invalid port "ssh"`},
		"two jump hosts":            {step(`ssh: {host: h, jump: "a,b"}`), []string{"4:47 bad-address"}, "only one host is possible"},
		"an option as jump host":    {step(`ssh: {host: h, jump: -x}`), []string{"4:46 bad-address"}, "invalid jump host"},
		"a jump host with no host":  {step(`ssh: {host: h, jump: joe@}`), []string{"4:46 bad-address"}, "the host is empty"},
		"a path with a token":       {step(`ssh: {host: h, key-file: /k/%h}`), []string{"4:50 bad-address"}, "cannot use the path"},
		"known hosts with a quote":  {step(`ssh: {host: h, known-hosts: "a'b"}`), []string{"4:54 bad-address"}, "cannot use the path"},
		"a key in the definition":   {step(`ssh: {host: h, key: "-----BEGIN OPENSSH PRIVATE KEY-----"}`), []string{"4:46 unknown-secret"}, "the private key is in the definition"},
		"a key and a key file":      {step(`ssh: {host: h, key: "{env.K}", key-file: k}`), []string{"4:56 two-bodies"}, "both key and key-file"},
		"a timeout that is a word":  {step(`ssh: {host: h, connect-timeout: soon}`), []string{"4:57 bad-duration"}, "invalid duration"},
		"a misspelt key":            {step(`ssh: {hots: h}`), []string{"4:30 no-value", "4:31 unknown-key"}, `did you mean "host"?`},
		"an unknown key":            {step(`ssh: {host: h, password: x}`), []string{"4:40 unknown-key"}, "password"},
		"a host of the caller":      {"parameters: {H: {description: d}}\n" + step(`ssh: "{H}"`), []string{"5:31 bad-address"}, "chooses the host of the connection"},
		"a jump host of the caller": {"parameters: {H: {description: d}}\n" + step(`ssh: {host: h, jump: "{H}"}`), []string{"5:47 bad-address"}, "chooses the host of the connection"},
		"an unknown placeholder":    {step(`ssh: "{nobody.output}"`), []string{"4:31 bad-address"}, "nobody"},
		"with run":                  {"steps:\n  - {name: a, run: echo, ssh: h}", []string{"4:31 no-effect"}, "only scripts of bash and sh"},
		"with python":               {"steps:\n  - {name: a, python: pass, ssh: h}", []string{"4:34 no-effect"}, "only scripts of bash and sh"},
		"with another shell":        {"steps:\n  - {name: a, script: x, shell: perl, ssh: h}", []string{"4:44 no-effect"}, "only scripts of bash and sh"},
		"with js":                   {"steps:\n  - {name: a, js: return 1, ssh: h}", []string{"4:34 no-effect"}, "ssh has no effect"},
		"with http":                 {"steps:\n  - {name: a, http: {url: 'https://example.org'}, ssh: h}", []string{"4:56 no-effect"}, "ssh has no effect"},
		"with wait":                 {"steps:\n  - {name: a, wait: {for: 1s}, ssh: h}", []string{"4:37 no-effect"}, "ssh has no effect"},
		"with approve":              {"steps:\n  - {name: a, approve: Go, ssh: h}", []string{"4:33 no-effect"}, "ssh has no effect"},
		"with use-tool":             {"steps:\n  - {name: a, use-tool: ./other.yaml, ssh: h}", []string{"4:44 no-effect"}, "ssh has no effect"},
		"on a group":                {"steps:\n  - {name: a, ssh: h, steps: [{name: b, sh: echo}]}", []string{"4:20 no-effect"}, "ssh has no effect"},
		"on a tool":                 {"sh: echo\nssh: h", []string{"4:1 unknown-key"}, "ssh"},
		"interactive":               {step(`ssh: h, interactive: true`), []string{"4:30 no-effect"}, "cannot be interactive"},
		"detached":                  {step(`ssh: h, detach: true`), []string{"4:30 no-effect"}, "detach has no effect"},
		"with artifacts":            {step(`ssh: h, artifacts: [a.txt]`), []string{"4:30 no-effect"}, "has no artifacts"},
		"cached":                    {step(`ssh: h, cache: {}`), []string{"4:40 cannot-cache"}, "cannot cache a step that runs over ssh"},
		"in a container":            {"security: {isolation: container}\n" + step(`ssh: h`), []string{"5:30 no-effect"}, "isolation: container is not possible"},
		"with a container":          {step(`ssh: h, container: {image: alpine}`), []string{"4:30 no-effect"}, "container is not possible for a step that runs over ssh"},
		"with reduced privileges":   {"security: {execution-privilege: reduced}\n" + step(`ssh: h`), []string{"5:30 no-effect"}, "execution-privilege: reduced is not possible"},
	})
}

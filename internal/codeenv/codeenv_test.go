package codeenv

import "testing"

func TestRuns(t *testing.T) {
	for name, want := range map[string]bool{
		"PATH": true, "LD_PRELOAD": true, "DYLD_INSERT_LIBRARIES": true, "BASH_ENV": true, "ENV": true, "IFS": true,
		"PYTHONPATH": true, "PYTHONSTARTUP": true, "PYTHONUNBUFFERED": false, "NODE_OPTIONS": true, "PERL5OPT": true,
		"RUBYOPT": true, "GIT_SSH_COMMAND": true, "GIT_CONFIG_COUNT": true, "GIT_AUTHOR_NAME": false, "BASH_FUNC_ls%%": true,
		"PROMPT_COMMAND": true, "aliases": true, "npm_config_script_shell": true,
		"HOME": false, "NODE_ENV": false, "Path": false, "ld_preload": false, "LDFLAGS": false, "": false,
	} {
		if got := runs(name, false); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	for name, want := range map[string]bool{"Path": true, "comspec": true, "ld_x": true, "pythonpath": true, "PythonUnbuffered": false, "home": false} {
		if got := runs(name, true); got != want {
			t.Errorf("%s on Windows: %v", name, got)
		}
	}
}

package codeenv

import "testing"

func TestRuns(t *testing.T) {
	for name, want := range map[string]bool{
		"PATH": true, "LD_PRELOAD": true, "DYLD_INSERT_LIBRARIES": true, "BASH_ENV": true, "ENV": true, "IFS": true,
		"PYTHONPATH": true, "PYTHONSTARTUP": true, "PYTHONUNBUFFERED": false, "NODE_OPTIONS": true, "PERL5OPT": true,
		"RUBYOPT": true, "GIT_SSH_COMMAND": true, "GIT_CONFIG_COUNT": true, "GIT_AUTHOR_NAME": false, "BASH_FUNC_ls%%": true,
		"PROMPT_COMMAND": true, "aliases": true, "npm_config_script_shell": true,
		"JAVA_TOOL_OPTIONS": true, "_JAVA_OPTIONS": true, "JDK_JAVA_OPTIONS": true, "GCONV_PATH": true, "PYTHONHOME": true,
		"GIT_SSH": true, "GIT_EXTERNAL_DIFF": true, "GIT_ALLOW_PROTOCOL": true, "GIT_TRACE": true, "GIT_OBJECT_DIRECTORY": true,
		"GIT_COMMITTER_EMAIL": false, "GIT_TERMINAL_PROMPT": false, "GIT_BRANCH": false, "GLIBC_TUNABLES": true, "RUSTFLAGS": true,
		"CARGO_HOME": true, "GOTOOLCHAIN": true, "JAVA_HOME": true, "KUBE_EDITOR": true, "AWS_PAGER": true, "FZF_DEFAULT_OPTS": true,
		"BUN_OPTIONS": true, "ERL_FLAGS": true, "GTK_MODULES": true, "QT_PLUGIN_PATH": true, "SSH_SK_PROVIDER": true, "HGMERGE": true,
		"PIP_INDEX_URL": true, "BUNDLE_PATH": true, "MAVEN_ARGS": true, "AWKPATH": true, "AWKLIBPATH": true, "CURL_HOME": true,
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

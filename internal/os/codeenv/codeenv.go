// Package codeenv lists the environment variables that make programs run code. Setting one of them decides
// what a later program executes, even if its command line is safe.
//
// No such list is complete, because every program may have variables of its own. This one has the
// variables of shells, the dynamic loader, common interpreters, and common programs that start others.
package codeenv

import (
	"runtime"
	"strings"
)

// evaluatedNames are the variables whose values shells expand or run each time they use them.
const evaluatedNames = "PS0 PS1 PS2 PS3 PS4 PROMPT PROMPT2 PROMPT_COMMAND BASH_ENV ENV BASH_ALIASES BASH_CMDS aliases functions"

// fixedNames are the other variables with a fixed name.
const fixedNames = `
	PATH PATHEXT COMSPEC SHELL IFS SHELLOPTS BASHOPTS FPATH ZDOTDIR PSModulePath
	GCONV_PATH GLIBC_TUNABLES GTK_MODULES GTK_PATH GIO_EXTRA_MODULES GIO_MODULE_DIR QT_PLUGIN_PATH OPENSSL_CONF OPENSSL_ENGINES OPENSSL_MODULES
	NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE BUN_OPTIONS
	RUBYOPT RUBYLIB RUBYPATH RUBYSHELL GEM_HOME GEM_PATH
	PERLLIB PHPRC PHP_INI_SCAN_DIR R_PROFILE R_PROFILE_USER R_LIBS R_LIBS_USER TCLLIBPATH AWKPATH AWKLIBPATH
	JULIA_LOAD_PATH JULIA_DEPOT_PATH
	CLASSPATH JAVA_HOME JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS JAVA_OPTS MAVEN_OPTS MAVEN_ARGS GRADLE_OPTS ANT_OPTS ANT_ARGS
	ERL_FLAGS ERL_AFLAGS ERL_ZFLAGS ERL_LIBS ELIXIR_ERL_OPTIONS
	DOTNET_STARTUP_HOOKS DOTNET_ADDITIONAL_DEPS CORECLR_PROFILER_PATH COR_PROFILER_PATH
	MAKEFLAGS GNUMAKEFLAGS MAKEFILES GOFLAGS GOENV GOROOT GOTOOLCHAIN CC CXX RUSTC RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTFLAGS
	EDITOR VISUAL SUDO_EDITOR PAGER MANPAGER BAT_PAGER AWS_PAGER GH_PAGER SYSTEMD_PAGER PSQL_PAGER DELTA_PAGER
	KUBE_EDITOR KUBECTL_EXTERNAL_DIFF GH_EDITOR SYSTEMD_EDITOR PSQL_EDITOR FCEDIT HGEDITOR HGMERGE BROWSER GH_BROWSER LESS LESSOPEN LESSCLOSE VIMINIT EXINIT
	FZF_DEFAULT_COMMAND FZF_DEFAULT_OPTS FZF_DEFAULT_OPTS_FILE SSH_SK_PROVIDER SSH_ASKPASS SUDO_ASKPASS SVN_SSH CVS_RSH RSYNC_RSH RSYNC_CONNECT_PROG TAR_OPTIONS RIPGREP_CONFIG_PATH CURL_HOME`

// prefixes are prefixes of names, each for a family of variables.
const prefixes = "LD_ DYLD_ PYTHON PERL5 LUA_INIT LUA_PATH LUA_CPATH GIT_ CARGO_ BASH_FUNC_ npm_config_ NPM_CONFIG_ PIP_ BUNDLE_"

// safeNames belong to such a family, but only affect how a program reads and writes, or are usual names for something
// else.
const safeNames = `PYTHONUNBUFFERED PYTHONIOENCODING PYTHONUTF8 PYTHONHASHSEED PYTHONDONTWRITEBYTECODE
	PYTHONFAULTHANDLER PYTHONOPTIMIZE PYTHONVERBOSE PYTHONDEVMODE PYTHONNOUSERSITE PYTHONSAFEPATH
	GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_AUTHOR_DATE GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL GIT_COMMITTER_DATE
	GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS GIT_MERGE_AUTOEDIT GIT_LITERAL_PATHSPECS
	GIT_BRANCH GIT_COMMIT GIT_TAG GIT_REF GIT_REVISION GIT_SHA GIT_MESSAGE GIT_URL GIT_REPO GIT_USER GIT_USERNAME GIT_PASSWORD GIT_TOKEN
	CARGO_TERM_COLOR CARGO_NET_OFFLINE CARGO_INCREMENTAL CARGO_BUILD_JOBS BUNDLE_JOBS PIP_NO_INPUT PIP_QUIET`

// RunsCode reports whether the variable makes programs run code. On Windows it ignores case, as Windows does.
func RunsCode(name string) bool { return runs(name, runtime.GOOS == "windows") }

// Evaluated reports whether shells evaluate the value of the variable as code.
func Evaluated(name string) bool {
	for entry := range strings.FieldsSeq(evaluatedNames) {
		if entry == name {
			return true
		}
	}
	return false
}

func runs(name string, fold bool) bool {
	same, begins := func(a, b string) bool { return a == b }, strings.HasPrefix
	if fold {
		same, begins = strings.EqualFold, func(s, p string) bool { return len(s) >= len(p) && strings.EqualFold(s[:len(p)], p) }
	}
	one := func(list string, is func(name, entry string) bool) bool {
		for entry := range strings.FieldsSeq(list) { // split when it is needed, because most commands need none of the lists
			if is(name, entry) {
				return true
			}
		}
		return false
	}
	return one(evaluatedNames, same) || one(fixedNames, same) || one(prefixes, begins) && !one(safeNames, same)
}

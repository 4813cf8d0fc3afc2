// Package codeenv lists the environment variables that make programs run code. Setting one of them decides
// what a later program executes, even if its command line is safe.
//
// No such list is complete, because every program may have variables of its own. This one has the
// variables of shells, the dynamic loader, common interpreters, and common programs that start others.
package codeenv

import (
	"runtime"
	"slices"
	"strings"
)

// evaluatedNames are the variables whose values shells expand or run each time they use them.
var evaluatedNames = strings.Fields("PS0 PS1 PS2 PS3 PS4 PROMPT PROMPT2 PROMPT_COMMAND BASH_ENV ENV BASH_ALIASES BASH_CMDS aliases functions")

// fixedNames are the other variables with a fixed name.
var fixedNames = strings.Fields(`
	PATH PATHEXT COMSPEC SHELL IFS SHELLOPTS BASHOPTS FPATH ZDOTDIR PSModulePath
	GCONV_PATH OPENSSL_CONF OPENSSL_ENGINES OPENSSL_MODULES
	NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE
	RUBYOPT RUBYLIB GEM_HOME GEM_PATH BUNDLE_GEMFILE
	PERLLIB PHPRC PHP_INI_SCAN_DIR R_PROFILE R_PROFILE_USER R_LIBS R_LIBS_USER TCLLIBPATH
	JULIA_LOAD_PATH JULIA_DEPOT_PATH
	CLASSPATH JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS JAVA_OPTS MAVEN_OPTS GRADLE_OPTS
	DOTNET_STARTUP_HOOKS DOTNET_ADDITIONAL_DEPS CORECLR_PROFILER_PATH COR_PROFILER_PATH
	MAKEFLAGS GNUMAKEFLAGS MAKEFILES GOFLAGS CC CXX RUSTC RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER
	EDITOR VISUAL SUDO_EDITOR PAGER MANPAGER BAT_PAGER BROWSER LESS LESSOPEN LESSCLOSE VIMINIT EXINIT
	SSH_ASKPASS SUDO_ASKPASS SVN_SSH CVS_RSH RSYNC_RSH RSYNC_CONNECT_PROG TAR_OPTIONS RIPGREP_CONFIG_PATH
	GIT_SSH GIT_SSH_COMMAND GIT_EXTERNAL_DIFF GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_ASKPASS
	GIT_PROXY_COMMAND GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_DIR GIT_COMMON_DIR`)

// prefixes are prefixes of names, each for a family of variables.
var prefixes = []string{
	"LD_", "DYLD_", "PYTHON", "PERL5", "LUA_INIT", "LUA_PATH", "LUA_CPATH", "GIT_CONFIG",
	"BASH_FUNC_", "npm_config_", "NPM_CONFIG_",
}

// safeNames belong to such a family, but only affect how a program reads and writes.
var safeNames = strings.Fields(`PYTHONUNBUFFERED PYTHONIOENCODING PYTHONUTF8 PYTHONHASHSEED PYTHONDONTWRITEBYTECODE
	PYTHONFAULTHANDLER PYTHONOPTIMIZE PYTHONVERBOSE PYTHONDEVMODE PYTHONNOUSERSITE PYTHONSAFEPATH`)

// RunsCode reports whether the variable makes programs run code. On Windows it ignores case, as Windows does.
func RunsCode(name string) bool { return runs(name, runtime.GOOS == "windows") }

// Evaluated reports whether shells evaluate the value of the variable as code.
func Evaluated(name string) bool { return slices.Contains(evaluatedNames, name) }

func runs(name string, fold bool) bool {
	same, begins := func(a, b string) bool { return a == b }, strings.HasPrefix
	if fold {
		same, begins = strings.EqualFold, func(s, p string) bool { return len(s) >= len(p) && strings.EqualFold(s[:len(p)], p) }
	}
	one := func(list []string, is func(name, entry string) bool) bool {
		return slices.ContainsFunc(list, func(entry string) bool { return is(name, entry) })
	}
	return one(evaluatedNames, same) || one(fixedNames, same) || one(prefixes, begins) && !one(safeNames, same)
}

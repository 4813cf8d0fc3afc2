package github

import (
	"slices"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/internal/importer"
)

// container reads the container of the job and its services. It returns why the job is left out.
func (j *job) container() (why string) {
	n, services := j.Get("container"), j.Get("services")
	switch {
	case !n.Exists() && !services.Exists():
		return ""
	case !n.Exists():
		return "flowrun starts services only beside a step in a container, and the job has no container"
	}
	j.box = &importer.Container{}
	if n.IsScalar() {
		j.box.Image = n.Text()
	} else if why := j.containerKeys(n); why != "" {
		return "its container: " + why
	}
	if j.box.Image == "" || strings.Contains(j.box.Image, "${{") {
		return "its container: the image is not fixed"
	}
	for _, p := range services.Pairs() {
		s, why := j.service(p)
		if why != "" {
			return "its service " + p.Key + ": " + why
		}
		j.box.Services = append(j.box.Services, s)
	}
	if j.shell == "" {
		j.shell = "sh" // an image may have no bash, and GitHub does the same
	}
	j.noted = append(j.noted, "each step has a container of its own, as the user of flowrun: what a step installs in it is not there for the next")
	if len(j.box.Services) > 0 {
		j.noted = append(j.noted, "each step has services of its own, without capabilities: one whose image starts as root and changes its user needs the key user")
	}
	return ""
}

func (j *job) containerKeys(n importer.Node) (why string) {
	for _, p := range n.Pairs() {
		switch p.Key {
		case "image":
			j.box.Image = p.Text()
		case "env":
			vars, why := j.fixed(p.Node)
			if why != "" {
				return why
			}
			for _, v := range vars { // a variable of the workflow or of the job wins
				if _, wins := j.env[v.Name]; !wins && !slices.Contains(j.secrets, v.Name) && !slices.Contains(j.tool.Secrets, v.Name) {
					j.vars = append(j.vars, v)
					j.lost.Set(v.Name)
				}
			}
		default:
			return "flowrun has no counterpart for " + p.Key
		}
	}
	return ""
}

// fixed reads variables whose values are known.
func (j *job) fixed(n importer.Node) (vars []importer.Variable, why string) {
	for _, p := range n.Pairs() {
		value, _, why := j.expand(p.Text())
		if why != "" || !importer.ValidVariable(p.Key) || strings.Contains(value, "\x01") {
			return nil, "the value of " + p.Key + " is known only when it runs"
		}
		vars = append(vars, importer.Variable{Name: p.Key, Value: value})
	}
	return vars, ""
}

func (j *job) service(n importer.Pair) (s importer.Service, why string) {
	s.Name = n.Key
	for _, p := range n.Pairs() {
		switch p.Key {
		case "image":
			s.Image = p.Text()
		case "env":
			s.Env, why = j.fixed(p.Node)
		case "ports": // for programs outside of the container; the steps reach it by its name
			p.Texts()
		case "options":
			why = health(p.Text(), &s)
		default:
			why = "flowrun has no counterpart for " + p.Key
		}
		if why != "" {
			return s, why
		}
	}
	if s.Image == "" || strings.Contains(s.Image, "${{") {
		return s, "the image is not fixed"
	}
	return s, ""
}

// health reads the options of docker that say when a service is ready.
func health(options string, s *importer.Service) (why string) {
	words := splitWords(options)
	for i := 0; i < len(words); i++ {
		option, value, ok := strings.Cut(words[i], "=")
		if !ok && i+1 < len(words) {
			i++
			value = words[i]
		}
		switch option {
		case "--health-cmd":
			s.Health = value
			if slices.ContainsFunc(strings.Fields(value), func(w string) bool { return !importer.Plain(w) }) {
				s.Health = "sh -c '" + strings.ReplaceAll(value, "'", `'\''`) + "'"
			}
		case "--health-interval":
			s.Interval = value
		case "--health-timeout":
			s.Timeout = value
		case "--health-retries":
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 {
				return option + " is not a number"
			}
			s.Retries = n
		default:
			return "flowrun has no counterpart for the option " + short(option)
		}
	}
	if s.Health == "" && len(words) > 0 {
		return "its options have no --health-cmd"
	}
	return ""
}

// splitWords splits a text at spaces outside of quotes.
func splitWords(s string) (words []string) {
	var word strings.Builder
	quote, inside := rune(0), false
	for _, c := range s + " " {
		switch {
		case quote == 0 && strings.ContainsRune(" \t\n", c):
			if inside {
				words = append(words, word.String())
			}
			word.Reset()
			inside = false
			continue
		case quote == 0 && (c == '"' || c == '\''):
			quote, inside = c, true
			continue
		case c == quote:
			quote = 0
			continue
		}
		inside = true
		word.WriteRune(c)
	}
	return words
}

package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	queue "github.com/flowrun/flowrun/history"
)

// splitPool splits the key of a pool's setting: pools.gpu.slots.
func splitPool(key string) (name, setting string, ok bool) {
	rest, ok := strings.CutPrefix(key, pools.Key+".")
	cut := strings.LastIndexByte(rest, '.')
	if !ok || cut < 0 {
		return "", "", false
	}
	return rest[:cut], rest[cut+1:], true
}

// checkPools reports pools without slots, invalid rates, and names that no step can use.
func (l *loader) checkPools() {
	for _, v := range l.values {
		name, setting, ok := splitPool(v.Key)
		if ok && setting == "slots" && !validPool(name) {
			l.report(v.Origin.Pos, "bad-pool", fmt.Sprintf("%q cannot be the name of a pool", name), "use up to 128 letters, digits, '_', '.' and '-'")
		}
		if !ok || setting != "rate" {
			continue
		}
		if _, err := parseRate(v.Text()); err != nil {
			l.report(v.Origin.Pos, "bad-pool", err.Error(), "")
		}
		hasSlots := func(o Value) bool { return o.Key == pools.Key+"."+name+".slots" }
		if !slices.ContainsFunc(l.values, hasSlots) {
			l.report(v.Origin.Pos, "bad-pool", fmt.Sprintf("the pool %s has no slots", name), "add slots: how many steps may run at the same time")
		}
	}
}

// validPool reports whether the key pool of a step can have this name.
func validPool(name string) bool {
	return len(name) <= 128 && !strings.ContainsFunc(name, func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_.-", r)
	})
}

// Pools returns the pools that steps share, by name.
func (c *Config) Pools() map[string]queue.Pool {
	all := map[string]queue.Pool{}
	for _, v := range c.Get(pools.Key) {
		name, setting, ok := splitPool(v.Key)
		if !ok {
			continue
		}
		p := all[name]
		if setting == "rate" {
			p.Rate, _ = parseRate(v.Text()) // checked when the settings were read
		} else if n, ok := v.Value.(int64); ok {
			p.Slots = int(n)
		}
		all[name] = p
	}
	return all
}

// parseRate reads a rate such as 10/m; the units are s, m and h.
func parseRate(text string) (r queue.Rate, err error) {
	count, unit, _ := strings.Cut(text, "/")
	r.Per = map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}[unit]
	if r.N, err = strconv.Atoi(count); err != nil || r.N < 1 || r.N > 1_000_000 || r.Per == 0 {
		return queue.Rate{}, fmt.Errorf("invalid rate %q: write how many may start in a second, minute or hour, such as 5/s, 10/m or 100/h", text)
	}
	return r, nil
}

package config

import (
	"fmt"
	"slices"
	"strings"

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

// checkPools reports pools without slots, and invalid rates.
func (l *loader) checkPools() {
	for _, v := range l.values {
		name, setting, ok := splitPool(v.Key)
		if !ok || setting != "rate" {
			continue
		}
		if _, err := queue.ParseRate(v.Text()); err != nil {
			l.report(v.Origin.Pos, "bad-pool", err.Error(), "")
		}
		hasSlots := func(o Value) bool { return o.Key == pools.Key+"."+name+".slots" }
		if !slices.ContainsFunc(l.values, hasSlots) {
			l.report(v.Origin.Pos, "bad-pool", fmt.Sprintf("the pool %s has no slots", name), "add slots: how many steps may run at the same time")
		}
	}
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
			p.Rate, _ = queue.ParseRate(v.Text()) // checked when the settings were read
		} else if n, ok := v.Value.(int64); ok {
			p.Slots = int(n)
		}
		all[name] = p
	}
	return all
}

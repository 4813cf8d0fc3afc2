package procid

import (
	"encoding/json"
	"os"
	"testing"
	"time"
)

func TestSelf(t *testing.T) {
	me := Self()
	if me.PID != os.Getpid() || me.Boot != BootID() || me.State() != Alive {
		t.Errorf("%+v is %v", me, me.State())
	}
	var read Identity
	if text, err := json.Marshal(me); err != nil || json.Unmarshal(text, &read) != nil || read != me {
		t.Errorf("%+v became %+v: %v", me, read, err)
	}
}

func TestUptime(t *testing.T) {
	before := Uptime()
	time.Sleep(20 * time.Millisecond)
	if took := Uptime() - before; before <= 0 || took < 20*time.Millisecond || took > time.Minute {
		t.Errorf("20 ms after %v it was %v", before, took)
	}
}

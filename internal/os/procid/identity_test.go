package procid

import (
	"encoding/json"
	"os"
	"runtime"
	"testing"
	"time"
)

func TestSelf(t *testing.T) {
	me := Self()
	want := Alive
	if runtime.GOOS == "windows" {
		want = Unknown
	}
	if me.PID != os.Getpid() || me.Boot != BootID() || me.State() != want {
		t.Errorf("%+v is %v, want %v", me, me.State(), want)
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

package jsrun

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
)

// fetchScript sends each kind of body and reads a response as a stream.
const fetchScript = `
	const form = new FormData()
	form.append('name', 'Ada')
	form.append('file', new Blob(['a', new Uint8Array([0, 255])], { type: 'a/b' }), 'f.bin')
	await fetch('http://a.example/form', { method: 'POST', body: form })
	await fetch('http://a.example/blob', { method: 'POST', body: new Blob(['text'], { type: 'c/d' }) })
	await fetch('http://a.example/stream', { method: 'POST', body: new ReadableStream({ start (c) { c.enqueue(new TextEncoder().encode('ab')); c.enqueue(new TextEncoder().encode('c')); c.close() } }) })
	const response = await fetch('http://a.example/get')
	const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
	let text = ''
	for (let next; !(next = await reader.read()).done;) text += next.value
	const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
	return [text, response.bodyUsed, Buffer.from(digest).toString('hex').slice(0, 8), crypto.randomUUID().length]`

// Bodies of all kinds are sent, and a response can be read as a stream.
func TestFetchBodies(t *testing.T) {
	sent := map[string]string{}
	c := Call{Script: compile(t, Step, fetchScript)}
	c.Ask = func(_ context.Context, _ string, args json.RawMessage) (any, error) {
		var in struct {
			URL     string
			Headers [][2]string
			Body    *string
		}
		if err := json.Unmarshal(args, &in); err != nil {
			return nil, err
		}
		if in.Body != nil {
			body, err := base64.StdEncoding.DecodeString(*in.Body)
			if err != nil {
				return nil, err
			}
			kind := ""
			for _, h := range in.Headers {
				if h[0] == "content-type" {
					kind = h[1]
				}
			}
			sent[strings.TrimPrefix(in.URL, "http://a.example/")] = kind + ": " + string(body)
		}
		return map[string]any{"url": in.URL, "status": 200, "headers": [][2]string{}, "text": "grüße"}, nil
	}
	both(t, c, func(t *testing.T, result string, err error) {
		if want := `["grüße",true,"8285d1ad",36]`; err != nil || result != want {
			t.Errorf("got %s, %v; want %s", result, err, want)
		}
		if sent["blob"] != "c/d: text" || sent["stream"] != ": abc" {
			t.Errorf("sent %q", sent)
		}
		for _, want := range []string{"multipart/form-data; boundary=", "name=\"name\"\r\n\r\nAda\r\n", "name=\"file\"; filename=\"f.bin\"\r\nContent-Type: a/b\r\n\r\na\x00\xff\r\n"} {
			if !strings.Contains(sent["form"], want) {
				t.Errorf("no %q in %q", want, sent["form"])
			}
		}
	})
}

// Timers are objects as in Node.js, and console has its counters.
func TestTimersAndConsole(t *testing.T) {
	const code = `
		const t = setTimeout(() => {}, 1e6), r = [t.unref() === t, t.hasRef(), t.ref().hasRef(), typeof t, typeof +t]
		clearTimeout(t)
		console.count(); console.count('a'); console.count('a'); console.countReset('a'); console.count('a')
		console.time('x'); console.timeEnd('y'); console.timeLog('x')
		await new Promise(done => { const i = setInterval(() => { clearInterval(i); done() }, 1) })
		await new Promise(done => setTimeout(done, 1).refresh())
		return r`
	var logged []string
	c := Call{Script: compile(t, Step, code)}
	c.Ask = func(_ context.Context, _ string, args json.RawMessage) (any, error) {
		var in struct{ Message string }
		err := json.Unmarshal(args, &in)
		logged = append(logged, in.Message)
		return nil, err
	}
	both(t, c, func(t *testing.T, result string, err error) {
		if want := `[true,false,true,"object","number"]`; err != nil || result != want {
			t.Errorf("got %s, %v; want %s", result, err, want)
		}
		if want := "default: 1, a: 1, a: 2, a: 1, x: "; !strings.HasPrefix(strings.Join(logged, ", "), want) {
			t.Errorf("logged %q, want %s", logged, want)
		}
		logged = nil
	})
}

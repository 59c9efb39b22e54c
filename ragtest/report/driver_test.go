package report

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// browser is a headless Chromium under its driver (W3C WebDriver).
type browser struct {
	t       *testing.T
	session string // address
}

// chromedriver names the program that the tests with a browser need.
const chromedriver = "RAGTEST_CHROMEDRIVER"

// openBrowser starts a browser that ends with the test.
func openBrowser(t *testing.T) *browser {
	program := os.Getenv(chromedriver)
	if program == "" {
		t.Skip(chromedriver + " names no chromedriver")
	}
	cmd := exec.Command(program, "--port=0")
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	port := ""
	lines := bufio.NewScanner(out)
	for port == "" && lines.Scan() {
		if _, after, ok := strings.Cut(lines.Text(), "started successfully on port "); ok {
			port = strings.Trim(after, ". ")
		}
	}
	if port == "" {
		t.Fatalf("%s did not say its port: %v", program, lines.Err())
	}
	go io.Copy(io.Discard, out)
	b := &browser{t: t, session: "http://127.0.0.1:" + port}
	var started struct {
		SessionID string `json:"sessionId"`
	}
	b.call(http.MethodPost, "/session", map[string]any{"capabilities": map[string]any{"alwaysMatch": map[string]any{
		"browserName":        "chrome",
		"goog:chromeOptions": map[string]any{"args": []string{"--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking", "--window-size=1280,900"}},
		"goog:loggingPrefs":  map[string]string{"browser": "ALL", "performance": "ALL"},
	}}}, &started)
	b.session += "/session/" + started.SessionID
	t.Cleanup(func() { b.call(http.MethodDelete, "", nil, nil) })
	return b
}

// call sends a command, and reads its value into answer.
func (b *browser) call(method, path string, body, answer any) {
	b.t.Helper()
	var sent io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			b.t.Fatal(err)
		}
		sent = bytes.NewReader(data)
	}
	request, err := http.NewRequest(method, b.session+path, sent)
	if err != nil {
		b.t.Fatal(err)
	}
	client := http.Client{Timeout: time.Minute}
	response, err := client.Do(request)
	if err != nil {
		b.t.Fatal(err)
	}
	defer response.Body.Close()
	var got struct{ Value json.RawMessage }
	if err := json.NewDecoder(response.Body).Decode(&got); err != nil {
		b.t.Fatalf("%s %s: %v", method, path, err)
	}
	if response.StatusCode != http.StatusOK {
		b.t.Fatalf("%s %s: %s: %s", method, path, response.Status, got.Value)
	}
	if answer != nil {
		if err := json.Unmarshal(got.Value, answer); err != nil {
			b.t.Fatalf("%s %s: %v", method, path, err)
		}
	}
}

// open opens a file and waits until its script is through.
func (b *browser) open(path string) {
	b.t.Helper()
	b.call(http.MethodPost, "/url", map[string]string{"url": "about:blank"}, nil)
	b.call(http.MethodPost, "/url", map[string]string{"url": "file://" + path}, nil)
	b.until(`return document.documentElement.dataset.ready === "true"`)
}

// run runs a function's body in the page.
func run[T any](b *browser, script string, args ...any) T {
	b.t.Helper()
	var answer T
	if args == nil {
		args = []any{}
	}
	b.call(http.MethodPost, "/execute/sync", map[string]any{"script": script, "args": args}, &answer)
	return answer
}

// until waits until a script returns true.
func (b *browser) until(script string, args ...any) {
	b.t.Helper()
	for range 1000 {
		if run[bool](b, script, args...) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	b.t.Fatalf("it never became true: %s", script)
}

// Keys, as WebDriver writes them.
const (
	keyTab       = "\ue004"
	keyEnter     = "\ue007"
	keyEscape    = "\ue00c"
	keyLeft      = "\ue012"
	keyRight     = "\ue014"
	keyBackspace = "\ue003"
)

// press presses keys, one after the other.
func (b *browser) press(keys ...string) {
	b.t.Helper()
	var actions []map[string]string
	for _, text := range keys {
		for _, key := range text {
			actions = append(actions, map[string]string{"type": "keyDown", "value": string(key)}, map[string]string{"type": "keyUp", "value": string(key)})
		}
	}
	b.call(http.MethodPost, "/actions", map[string]any{"actions": []any{map[string]any{"type": "key", "id": "keyboard", "actions": actions}}}, nil)
}

// devtools sends a command of Chrome's own protocol.
func (b *browser) devtools(command string, params map[string]any) {
	b.t.Helper()
	b.call(http.MethodPost, "/goog/cdp/execute", map[string]any{"cmd": command, "params": params}, nil)
}

func (b *browser) scheme(scheme string) {
	b.devtools("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}}})
}

func (b *browser) size(width, height int, mobile bool) {
	b.devtools("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile})
}

// screenshots names a folder that the tests put pictures of the pages in.
const screenshots = "RAGTEST_SCREENSHOTS"

// shoot takes a picture of what the window shows.
func (b *browser) shoot(name string) {
	b.t.Helper()
	dir := os.Getenv(screenshots)
	if dir == "" {
		return
	}
	var encoded string
	b.call(http.MethodGet, "/screenshot", nil, &encoded)
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), data, 0o666); err != nil {
		b.t.Fatal(err)
	}
}

// log returns the messages of a log since it was read last.
func (b *browser) log(kind string) []string {
	b.t.Helper()
	var entries []struct{ Level, Message string }
	b.call(http.MethodPost, "/se/log", map[string]string{"type": kind}, &entries)
	var messages []string
	for _, e := range entries {
		messages = append(messages, fmt.Sprintf("%s: %s", e.Level, e.Message))
	}
	return messages
}

// quiet fails the test if the page wrote to the console, or asked for any address
// but those given.
func (b *browser) quiet(addresses ...string) {
	b.t.Helper()
	for _, m := range b.log("browser") {
		b.t.Errorf("the console has %s", m)
	}
	asked := 0
	for _, m := range b.log("performance") {
		var event struct {
			Message struct {
				Method string
				Params struct{ Request struct{ URL string } }
			}
		}
		_, text, _ := strings.Cut(m, ": ")
		if err := json.Unmarshal([]byte(text), &event); err != nil {
			b.t.Fatal(err)
		}
		if event.Message.Method != "Network.requestWillBeSent" {
			continue
		}
		asked++
		url := event.Message.Params.Request.URL
		allowed := strings.HasPrefix(url, "data:") || url == "about:blank"
		for _, a := range addresses {
			allowed = allowed || url == "file://"+a
		}
		if !allowed {
			b.t.Errorf("the page asked for %s", url)
		}
	}
	if asked == 0 {
		b.t.Error("no request was recorded, not even that for the page")
	}
}

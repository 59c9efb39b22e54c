package retryhttp_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/rageval/rageval/internal/retryhttp"
)

const canary = "canary/+secret\"0123456789"

func TestErrorsKeepSecrets(t *testing.T) {
	var answers []answer
	for _, body := range []string{
		`{"error":{"message":"bad key canary/+secret\"0123456789"}}`,
		`{"error":{"message":"bad key \u0063anary\/+secret\"0123456789"}}`,
		`{"error":{"message":"no","code":"canary/+secret\"0123456789"}}`,
		`{"error":"canary/+secret\"0123456789"}`,
		`{"message":"canary/+secret\"0123456789"}`,
		`{"detail":"canary/+secret\"0123456789"}`,
		`<html>canary/+secret"0123456789</html>`,
		`canary%2F%2Bsecret%220123456789`,
		strings.Repeat(" ", 65_520) + `canary/+secret"0123456789`,
		strings.Repeat("x", 290) + ` canary/+secret"0123456789`,
		`Authorization: Bearer canary0123456789abcdef`,
		`key sk-proj-canary0123456789abcdef`,
	} {
		answers = append(answers, status(400, body), status(200, body), status(503, body))
	}
	answers = append(answers,
		broken(fmt.Errorf("dialling %s", canary)),
		status(302, "", "Location", "https://x.test/"+"canary%2F%2Bsecret%220123456789"),
	)
	for i, a := range answers {
		synctest.Test(t, func(t *testing.T) {
			transport := &retryhttp.Transport{Base: &script{answers: []answer{a}}, Secrets: []string{"", canary}}
			_, err := post(t, transport, t.Context())
			for e := err; e != nil; e = errors.Unwrap(e) {
				for _, form := range []string{fmt.Sprint(e), fmt.Sprintf("%+v", e), fmt.Sprintf("%#v", e)} {
					if strings.Contains(form, "canary") || strings.Contains(form, "secret") || strings.Contains(form, "in-the-query") || strings.Contains(form, "password") {
						t.Errorf("answer %d: the error shows a secret: %s", i, form)
					}
				}
			}
		})
	}
}

func TestMessageIsShort(t *testing.T) {
	for _, body := range []string{strings.Repeat("word ", 50_000), "a" + strings.Repeat("é", 200), "\xff\xfe" + strings.Repeat("a", 400), strings.Repeat("\x00\n", 200)} {
		_, err := post(t, &retryhttp.Transport{Base: &script{answers: []answer{status(400, body)}}}, t.Context())
		var e *retryhttp.Error
		if !errors.As(err, &e) || len(e.Message) > 310 || strings.ContainsAny(err.Error(), "\n\x00") || !utf8.ValidString(e.Message) || strings.ContainsRune(strings.TrimPrefix(e.Message, "\uFFFD"), utf8.RuneError) || !strings.HasSuffix(e.Message, "…") {
			t.Errorf("got %v, want a short message of one line", err)
		}
	}
}

func TestCause(t *testing.T) {
	e := &retryhttp.Error{Method: "POST", URL: "http://x.test", Status: 400, Attempts: 1}
	if got := retryhttp.Cause(fmt.Errorf("outer: %w", e)); got != error(e) {
		t.Errorf("got %v, want the error inside", got)
	}
	other := errors.New("other")
	if got := retryhttp.Cause(other); got != other {
		t.Errorf("got %v, want the error itself", got)
	}
	if got := retryhttp.Cause(nil); got != nil {
		t.Errorf("got %v, want nil", got)
	}
}

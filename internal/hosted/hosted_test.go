package hosted

import (
	"math"
	"strings"
	"testing"
)

const canary = "canary-7c1f0a2b9d"

func TestKey(t *testing.T) {
	t.Setenv("FIRST_KEY", "")
	t.Setenv("SECOND_KEY", " from-second\n")
	t.Setenv("BROKEN_KEY", canary+"\n"+canary)
	for _, test := range []struct {
		field     string
		required  bool
		variables []string
		want, err string
	}{
		{" from-field ", true, []string{"SECOND_KEY"}, "from-field", ""},
		{"", true, []string{"FIRST_KEY", "SECOND_KEY"}, "from-second", ""},
		{"", false, []string{"FIRST_KEY"}, "", ""},
		{"", false, nil, "", ""},
		{"", true, []string{"FIRST_KEY"}, "", "there is no API key: set FIRST_KEY, or the field APIKey"},
		{" ", true, []string{"FIRST_KEY", "THIRD_KEY"}, "", "there is no API key: set FIRST_KEY or THIRD_KEY, or the field APIKey"},
		{"", true, []string{"BROKEN_KEY"}, "", "the API key in BROKEN_KEY has a character that no key has"},
		{canary + "é", true, []string{"SECOND_KEY"}, "", "the API key in APIKey has a character that no key has"},
	} {
		got, err := Key(test.field, test.required, test.variables...)
		if got != test.want || test.err == "" && err != nil {
			t.Errorf("%q, %q: got %q, %v, want %q", test.field, test.variables, got, err, test.want)
		}
		if test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err) || strings.Contains(err.Error(), canary)) {
			t.Errorf("%q, %q: got error %v, want %q", test.field, test.variables, err, test.err)
		}
	}
}

func TestBaseURL(t *testing.T) {
	for base, want := range map[string]string{
		"http://localhost:8080/v1": "", "https://models.test": "",
		"http://[::1" + canary:  "BaseURL is not a URL: want one such as http://x",
		"models.test/" + canary: "BaseURL is not an absolute http or https URL",
		"localhost:8080":        "BaseURL is not an absolute http or https URL",
		"ftp://models.test":     "BaseURL is not an absolute http or https URL",
		"":                      "BaseURL is not an absolute http or https URL",
		"http://user:" + canary + "@models.test/v1": "BaseURL has a user name",
		"http://models.test?key=" + canary:          "BaseURL has a query or a fragment",
		"http://models.test#" + canary:              "BaseURL has a query or a fragment",
	} {
		u, err := BaseURL(base, "http://x")
		switch {
		case want == "" && (err != nil || u.String() != base):
			t.Errorf("%s: got %v, %v", base, u, err)
		case want != "" && (err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), canary)):
			t.Errorf("%s: got error %v, want %q", base, err, want)
		}
	}
}

func TestPlace(t *testing.T) {
	for base, want := range map[string]string{
		"http://localhost:8080/v1/":                             "localhost:8080/v1",
		"https://user:" + canary + "@models.test?key=" + canary: "models.test",
		"http://gateway/model-a":                                "gateway/model-a",
		"http://[::1" + canary:                                  "",
	} {
		if got := Place(base); got != want {
			t.Errorf("%s: got %q, want %q", base, got, want)
		}
	}
}

func TestCheckText(t *testing.T) {
	for text, want := range map[string]string{"": "is empty, which the API does not take", "é\ufffd\xc3": "is not valid UTF-8 at byte 5"} {
		if err := CheckText(text); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{" ", "é\ufffd", "\x00"} {
		if err := CheckText(text); err != nil {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

func TestIsPrice(t *testing.T) {
	for dollars, want := range map[float64]bool{0: true, 0.02: true, -1: false, math.Inf(1): false} {
		if got := IsPrice(dollars); got != want {
			t.Errorf("%v: got %v, want %v", dollars, got, want)
		}
	}
	if IsPrice(math.NaN()) {
		t.Error("NaN is no price")
	}
}

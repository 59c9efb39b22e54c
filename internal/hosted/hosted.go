package hosted

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"strings"

	"github.com/rageval/rageval/internal/invalid"
)

// Key returns the key in the field APIKey, else that in the first of the
// environment variables that has one, without white space around it. None is an
// error if it is required, and "" otherwise.
func Key(field string, required bool, variables ...string) (string, error) {
	key, from := strings.TrimSpace(field), "APIKey"
	for _, name := range variables {
		if key == "" {
			key, from = strings.TrimSpace(os.Getenv(name)), name
		}
	}
	if key == "" && required {
		return "", fmt.Errorf("there is no API key: set %s, or the field APIKey", strings.Join(variables, " or "))
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r >= 0x7F }) {
		return "", fmt.Errorf("the API key in %s has a character that no key has, such as a space or a line end within it", from)
	}
	return key, nil
}

// BaseURL parses the field BaseURL. It must be absolute, and hold no user, query or
// fragment: they may be secret, and a path is appended to it.
func BaseURL(base, example string) (*url.URL, error) {
	u, err := url.Parse(base)
	switch {
	case err != nil:
		return nil, errors.New("BaseURL is not a URL: want one such as " + example)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, errors.New("BaseURL is not an absolute http or https URL: want one such as " + example)
	case u.User != nil:
		return nil, errors.New("BaseURL has a user name: want the key in APIKey, or a Transport that adds what the server wants")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("BaseURL has a query or a fragment: want what comes before it")
	}
	return u, nil
}

// Place returns host and path of a base URL, for the name of what is there, "" if it
// is none.
func Place(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	return strings.TrimRight(u.Host+u.EscapedPath(), "/")
}

// CheckText returns an error for a text that services refuse, or would get
// otherwise than it is.
func CheckText(text string) error {
	if text == "" {
		return errors.New("is empty, which the API does not take")
	}
	if at := invalid.UTF8(text); at >= 0 {
		return fmt.Errorf("is not valid UTF-8 at byte %d", at)
	}
	return nil
}

// IsPrice reports whether a number of dollars is finite and not negative.
func IsPrice(dollars float64) bool { return dollars >= 0 && !math.IsInf(dollars, 0) }

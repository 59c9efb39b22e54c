package ragtest

import (
	"context"
	"errors"
	"fmt"
)

// conformance collects the rules that a component breaks.
type conformance struct {
	ctx        context.Context
	component  string // such as "store"
	rule       string // the one that is checked now
	violations []error
	stop       bool // no further rule can be checked
}

type rule struct {
	name  string
	check func()
}

// run checks one rule after the other, until ctx is done, and returns all
// violations.
func (c *conformance) run(rules []rule) error {
	for _, r := range rules {
		c.rule = r.name
		c.recovering(r.check)
		if c.ctx.Err() != nil {
			c.violations = append(c.violations, fmt.Errorf("checking the %s: %w", c.component, context.Cause(c.ctx)))
		}
		if c.ctx.Err() != nil || c.stop {
			break
		}
	}
	return errors.Join(c.violations...)
}

// recovering calls check, and takes a panic of the component for a violation.
func (c *conformance) recovering(check func()) {
	defer func() {
		if r := recover(); r != nil {
			c.errorf("the %s panicked: %v", c.component, r)
		}
	}()
	check()
}

func (c *conformance) errorf(format string, args ...any) {
	c.violations = append(c.violations, fmt.Errorf(c.rule+": "+format, args...))
}

func (c *conformance) wantError(err error, format string, args ...any) {
	if err == nil {
		c.errorf(format+": got no error", args...)
	}
}

package ragtest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
)

// Usage is what one model of one component consumed during an evaluation, as the
// component counted it with [CountUsage].
type Usage struct {
	Component string  `json:"component"`           // such as "openai"
	Model     string  `json:"model,omitempty"`     // as the service calls it
	Calls     int     `json:"calls,omitempty"`     // requests that were answered; retries are not counted
	Tokens    int     `json:"tokens,omitempty"`    // as the service counts them
	Truncated int     `json:"truncated,omitempty"` // texts that were cut to what the model takes
	Cost      float64 `json:"cost,omitempty"`      // US dollars, by the prices the component was given; 0 without
}

func (u Usage) String() string {
	s := u.Component
	if u.Model != "" {
		s += " " + u.Model
	}
	s += ": " + count(u.Calls, "call")
	if u.Tokens > 0 {
		s += ", " + count(u.Tokens, "token")
	}
	if u.Truncated > 0 {
		s += ", " + count(u.Truncated, "truncated text")
	}
	if u.Cost > 0 {
		s += fmt.Sprintf(", $%.6g", u.Cost)
	}
	return s
}

// CountUsage adds u to the usage of the evaluation that ctx comes from, which
// reports it in [Diagnostics]. Components that call a paid or limited service
// call it with the context they were given, once for each request that was
// answered. It is safe for concurrent use, and does nothing where ctx does not
// come from an evaluation. In a benchmark, which retrieves many times, the
// set-up and the last round count.
func CountUsage(ctx context.Context, u Usage) {
	if m, ok := ctx.Value(usageKey{}).(*usageMeter); ok {
		m.count(u)
	}
}

type usageKey struct{}

// usageMeter collects the usage of an evaluation.
type usageMeter struct {
	mu     sync.Mutex
	counts []Usage
	marked int
}

func (m *usageMeter) context(ctx context.Context) context.Context {
	return context.WithValue(ctx, usageKey{}, m)
}

func (m *usageMeter) count(u Usage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counts = append(m.counts, u)
}

// mark remembers what was counted so far: it is what rewind goes back to.
func (m *usageMeter) mark() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.marked = len(m.counts)
}

func (m *usageMeter) rewind() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counts = m.counts[:m.marked]
}

// total returns the sums by component and model. Costs are added in ascending
// order, so that the sum does not depend on the order of concurrent calls.
func (m *usageMeter) total() []Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	counts := slices.SortedFunc(slices.Values(m.counts), func(a, b Usage) int {
		return cmp.Or(cmp.Compare(a.Component, b.Component), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Cost, b.Cost))
	})
	var totals []Usage
	for _, u := range counts {
		if n := len(totals); n > 0 && totals[n-1].Component == u.Component && totals[n-1].Model == u.Model {
			t := &totals[n-1]
			t.Calls += u.Calls
			t.Tokens += u.Tokens
			t.Truncated += u.Truncated
			t.Cost += u.Cost
			continue
		}
		totals = append(totals, u)
	}
	return totals
}

// Package tokens cuts and measures texts in tokens.
package tokens

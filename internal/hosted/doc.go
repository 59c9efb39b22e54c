// Package hosted holds what the adapters to hosted models check before they send
// anything: keys, base URLs and texts. No error of it repeats a key, or a URL, which
// may hold one.
package hosted

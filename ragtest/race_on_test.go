//go:build race

package ragtest_test

const raceDetector = true

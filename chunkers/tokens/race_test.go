//go:build race

package tokens

func init() { raceDetector = true }

// Ragtest prepares, runs and reports tests of retrieval.
//
// Usage:
//
//	ragtest COMMAND [flags] [arguments]
//
// ragtest help lists the commands; ragtest COMMAND -h, or ragtest help COMMAND,
// tells more about one. Flags may stand before, between and after the arguments; --
// ends them.
//
// Results go to standard output, errors and progress to standard error, each line of
// an error as "ragtest COMMAND: …". Progress is drawn on a terminal only.
//
// # Exit codes
//
//	0    all is well
//	1    the command did its work and found something: lint findings, a regression
//	2    it could not do its work: wrong arguments, bad input, a file that cannot be written
//	130  it was interrupted; whatever it was writing is not there
//
// An interrupt ends the command in good order, a second one at once. A reader that
// closes its end of a pipe is no error.
package main

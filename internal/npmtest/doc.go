// Package npmtest runs other people's clients in tests: programs for node that use packages of npm,
// pinned in package-lock.json and installed by scripts/npm.sh.
//
//	client := npmtest.Start(t, "testdata/client.cjs", "BASE="+url)
//	client.Do(npmtest.Say("hello.pcm"))
//	client.Await("a turn", func(e npmtest.Event) bool { return e.Type == "turnComplete" })
//	client.Do(npmtest.Bye())
//	client.Wait()
//
// A program reads commands and writes events, one JSON object a line; harness.cjs has its half of
// that. A missing node fails the test and names the command that installs it; it never skips. A
// [Program] belongs to one goroutine.
package npmtest

// Package clienttest is what the tests with other people's clients prove: for each client and version,
// which features a test has seen work. [Clients] is the table of them, and docs/clients.md is its page.
//
//	clienttest.Shows(t, "openai", clienttest.Speech, clienttest.End) // behind the assertions
//
// The table is held to the tests both ways. A test that shows a feature which the table does not claim
// fails, and a package fails in whose tests a claimed feature was not shown: [Finish] in its TestMain
// checks that, unless only some of the tests ran.
package clienttest

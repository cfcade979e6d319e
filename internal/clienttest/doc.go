// Package clienttest records what the tests with third-party clients show: for each client and
// version, which features worked in a test. [Clients] is the table of them, and docs/clients.md is
// its page.
//
//	clienttest.Shows(t, "openai", clienttest.Speech, clienttest.End) // behind the assertions
//
// The table and the tests are compared both ways. A test that shows a feature which the table does not claim
// fails, and a package fails in whose tests a claimed feature was not shown: [Finish] in its TestMain checks
// that, unless only some of the tests ran.
package clienttest

// Package webtest tests the page and the client of package web in Chromium and Firefox, and the npm
// package as its users have it. In most tests the gateway is a double: it hands each call to the
// test, which then sends what a gateway sends. In gateway_test.go and reconnect_test.go the gateway
// is real, with the embedded model. The unit tests of pure modules are in testdata/unit.
package webtest

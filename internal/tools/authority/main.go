// Command authority is a certificate authority that speaks ACME, Let's Encrypt's pebble, on this machine. It issues
// certificates under any name for whoever answers on a port of this machine. It prints one line of JSON with its URL,
// its root certificate and the certificate to trust to talk to it, and ends with its standard input.
package main

import (
	"encoding/json"
	"encoding/pem"
	"flag"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"os"

	"github.com/letsencrypt/challtestsrv"
	"github.com/letsencrypt/pebble/v2/ca"
	"github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"
)

func main() {
	tlsPort := flag.Int("tls-port", 443, "the `port` on which names are proved")
	flag.Parse()
	if err := serve(*tlsPort, os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// serve issues certificates until in ends.
func serve(tlsPort int, in io.Reader, out io.Writer) error {
	_, _ = os.Setenv("PEBBLE_VA_NOSLEEP", "1"), os.Setenv("PEBBLE_WFE_NONCEREJECT", "0")
	quiet := log.New(io.Discard, "", 0)
	resolver, err := names(quiet)
	if err != nil {
		return err
	}
	store := db.NewMemoryStore()
	issuer := ca.New(quiet, store, "", "ecdsa", 0, 1, map[string]ca.Profile{"default": {Description: "test"}})
	front := wfe.New(quiet, store, va.New(quiet, 1, tlsPort, false, resolver, store), issuer,
		[]string{"pebble.letsencrypt.org"}, false, false, 1, 1)
	server := httptest.NewTLSServer(front.Handler())
	defer server.Close()
	trust := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	err = json.NewEncoder(out).Encode(map[string]string{"directory": server.URL + wfe.DirectoryPath,
		"root": string(issuer.GetRootCert(0).PEM()), "trust": string(trust)})
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, in)
	return err
}

// names answers that every name is this machine, and returns the address where it does.
func names(quiet *log.Logger) (resolver string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	resolver = l.Addr().String()
	if err := l.Close(); err != nil {
		return "", err
	}
	server, err := challtestsrv.New(challtestsrv.Config{Log: quiet, DNSAddrs: []string{resolver}})
	if err != nil {
		return "", err
	}
	server.SetDefaultDNSIPv4("127.0.0.1")
	server.SetDefaultDNSIPv6("")
	server.Run()
	return resolver, nil
}

package settings

import (
	"net"
	"net/netip"
	"regexp"
	"strconv"
)

// Kubernetes sets variables for each service of a namespace, named after the service:
// VOICEGW_SERVICE_HOST, VOICEGW_PORT=tcp://10.0.0.1:80 and so on for a service voicegw,
// VOICEGW_ADMIN_SERVICE_HOST for voicegw-admin.
// https://kubernetes.io/docs/tutorials/services/connect-applications-service/#environment-variables
var (
	linkHost  = regexp.MustCompile(`_SERVICE_HOST$|_PORT_\d+_(TCP|UDP|SCTP)_ADDR$`)
	linkPort  = regexp.MustCompile(`_SERVICE_PORT(_[A-Z0-9_]+)?$|_PORT_\d+_(TCP|UDP|SCTP)_PORT$`)
	linkURL   = regexp.MustCompile(`_PORT(_\d+_(TCP|UDP|SCTP))?$`)
	linkProto = regexp.MustCompile(`_PORT_\d+_(TCP|UDP|SCTP)_PROTO$`)
	urlOfLink = regexp.MustCompile(`^(tcp|udp|sctp)://(.+)$`)
)

// serviceLink reports whether a variable, by its name and value, is one that Kubernetes sets for a
// service.
func serviceLink(name, text string) bool {
	switch {
	case linkHost.MatchString(name):
		return net.ParseIP(text) != nil
	case linkPort.MatchString(name):
		port, err := strconv.ParseUint(text, 10, 16)
		return err == nil && port > 0
	case linkProto.MatchString(name):
		return text == "tcp" || text == "udp" || text == "sctp"
	case linkURL.MatchString(name):
		m := urlOfLink.FindStringSubmatch(text)
		if m == nil {
			return false
		}
		_, err := netip.ParseAddrPort(m[2])
		return err == nil
	}
	return false
}

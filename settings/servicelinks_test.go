package settings

import (
	"fmt"
	"strings"
	"testing"
)

// linksOf are the variables that Kubernetes sets for a service with a TCP port http and a UDP port
// media.
func linksOf(service, ip string) []string {
	list := []string{"_SERVICE_HOST=" + ip, "_SERVICE_PORT=80", "_SERVICE_PORT_HTTP=80", "_SERVICE_PORT_MEDIA_1=3478",
		"_PORT=tcp://" + ip + ":80"}
	for _, port := range []struct {
		proto, number string
	}{{"tcp", "80"}, {"udp", "3478"}, {"sctp", "9"}} {
		p := "_PORT_" + port.number + "_" + strings.ToUpper(port.proto)
		list = append(list, p+"="+port.proto+"://"+ip+":"+port.number, p+"_PROTO="+port.proto, p+"_PORT="+port.number,
			p+"_ADDR="+strings.Trim(ip, "[]"))
	}
	list[0] = "_SERVICE_HOST=" + strings.Trim(ip, "[]")
	for i := range list {
		list[i] = service + list[i]
	}
	return list
}

// TestServiceLinks starts beside services whose names begin like the program's.
func TestServiceLinks(t *testing.T) {
	t.Parallel()
	for _, service := range []string{"VOICEGW", "VOICEGW_ADMIN", "VOICEGW_TLS", "VOICEGW_REUSE"} {
		for _, ip := range []string{"10.96.0.17", "[fd00::17]"} {
			if _, err := configured(t, "", linksOf(service, ip)); err != nil {
				t.Errorf("%s at %s: %v", service, ip, err)
			}
		}
	}
}

// TestMistypedVariables tells of variables that only look like those of a service.
func TestMistypedVariables(t *testing.T) {
	t.Parallel()
	for variable, want := range map[string]string{
		"VOICEGW_PORT=8080":                "not a setting",
		"VOICEGW_PORT=tcp://voice:80":      "not a setting",
		"VOICEGW_SERVICE_HOST=voice":       "not a setting",
		"VOICEGW_SERVICE_PORT=http":        "not a setting",
		"VOICEGW_SERVICE_PORT=0":           "not a setting",
		"VOICEGW_PORT_80_TCP_PROTO=icmp":   "not a setting",
		"VOICEGW_PORT_80_TCP_ADDR=nowhere": "not a setting",
		"VOICEGW_PORT_X_TCP=tcp://1.1.1.1": "not a setting",
		"VOICEGW_LISTNE=:1":                "did you mean VOICEGW_LISTEN?",
		"VOICEGW_REUSE_PROT=true":          "did you mean VOICEGW_REUSE_PORT?",
		"VOICEGW_HOST=10.0.0.1":            "did you mean VOICEGW_HOSTS?",
		"VOICEGW_REUSE_PORT=8080":          "reuse_port is \"8080\"",
	} {
		_, err := configured(t, "", []string{variable})
		if err == nil || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: %v; want %q", variable, err, want)
		}
	}
}

// FuzzServiceLink wants no setting of ours to pass for a service's, whatever its value, but for one
// whose name is both.
func FuzzServiceLink(f *testing.F) {
	f.Add("10.0.0.1")
	f.Add("80")
	f.Add("tcp://10.0.0.1:80")
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range Rows() {
			if s.Key != "reuse_port" && serviceLink(s.Env(), text) {
				t.Errorf("%s=%q is taken for a service's", s.Env(), text)
			}
		}
	})
}

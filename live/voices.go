package live

import "strings"

// voices are the prebuilt voices of the native audio models.
var voices = [...]string{"Zephyr", "Puck", "Charon", "Kore", "Fenrir", "Leda", "Orus", "Aoede", "Callirrhoe", "Autonoe",
	"Enceladus", "Iapetus", "Umbriel", "Algieba", "Despina", "Erinome", "Algenib", "Rasalgethi", "Laomedeia", "Achernar",
	"Alnilam", "Schedar", "Gacrux", "Pulcherrima", "Achird", "Zubenelgenubi", "Vindemiatrix", "Sadachbia", "Sadaltager",
	"Sulafat"}

// Voice returns the prebuilt voice of a name, whose case does not matter, or "" if this package
// knows none. A model refuses a session with a voice that it does not have.
func Voice(name string) string {
	for _, v := range voices {
		if strings.EqualFold(v, name) {
			return v
		}
	}
	return ""
}

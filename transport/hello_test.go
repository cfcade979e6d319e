package transport

import (
	"errors"
	"strings"
	"testing"
)

func TestHelloCheck(t *testing.T) {
	offer := Offer{Instructions: []string{"sales", "support"}, Detections: []Detection{DetectionGatewayVAD}}
	tests := []struct {
		name         string
		change       func(*Hello)
		field, value string // of the error, "" for none
		want         string // a part of what would be right
	}{
		{"plain", func(h *Hello) {}, "", "", ""},
		{"everything", func(h *Hello) {
			h.Language, h.Instructions, h.Detection, h.Client = "de-CH-1996", "sales", DetectionGatewayVAD, "test 1.0 (é)"
		}, "", "", ""},
		{"44.1 kHz", func(h *Hello) { h.InputRateHz, h.OutputRateHz = 44100, 11025 }, "", "", ""},
		{"version", func(h *Hello) { h.Version = 2 }, "version", "2", "1"},
		{"input rate missing", func(h *Hello) { h.InputRateHz = 0 }, "input_rate", "0", "8000 to 48000"},
		{"input rate low", func(h *Hello) { h.InputRateHz = 7999 }, "input_rate", "7999", "8000 to 48000"},
		{"output rate high", func(h *Hello) { h.OutputRateHz = 96000 }, "output_rate", "96000", "8000 to 48000"},
		{"language", func(h *Hello) { h.Language = "en_US" }, "language", "a string of 5 bytes", "BCP 47"},
		{"language with an empty part", func(h *Hello) { h.Language = "en--US" },
			"language", "a string of 6 bytes", "BCP 47"},
		{"language too long", func(h *Hello) { h.Language = strings.Repeat("en-", 12) + "x" }, "language", "", "BCP 47"},
		{"instructions", func(h *Hello) { h.Instructions = "piracy" },
			"instructions", "a string of 6 bytes", `"sales", "support"`},
		{"detection unknown", func(h *Hello) { h.Detection = "psychic" }, "detection", "a string of 7 bytes", `"manual"`},
		{"detection not offered", func(h *Hello) { h.Detection = DetectionModelVAD },
			"detection", "a string of 6 bytes", `"manual"`},
		{"client too long", func(h *Hello) { h.Client = strings.Repeat("x", 65) }, "client", "", "64 bytes"},
		{"client with a line break", func(h *Hello) { h.Client = "a\nb" }, "client", "a string of 3 bytes", "control"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := Hello{Version: 1, InputRateHz: 48000, OutputRateHz: 24000}
			tt.change(&h)
			err := h.Check(offer)
			var fe *FieldError
			switch {
			case tt.field == "" && err != nil:
				t.Fatalf("refused: %v", err)
			case tt.field == "":
				return
			case !errors.As(err, &fe):
				t.Fatalf("Check = %v, want a FieldError", err)
			}
			if fe.Field != tt.field || (tt.value != "" && fe.Value != tt.value) || !strings.Contains(fe.Want, tt.want) {
				t.Errorf("got %+v, want field %s, value %s, want ...%s...", fe, tt.field, tt.value, tt.want)
			}
			if len(err.Error()) > 250 {
				t.Errorf("the message is %d bytes long: %s", len(err.Error()), err)
			}
		})
	}
}

func TestHelloCheckWithoutOffer(t *testing.T) {
	h := Hello{Version: 1, InputRateHz: 8000, OutputRateHz: 8000, Detection: DetectionModelVAD}
	if err := h.Check(Offer{}); err != nil {
		t.Errorf("both detections are offered by default: %v", err)
	}
	h.Instructions = "x"
	if err := h.Check(Offer{}); err == nil || !strings.Contains(err.Error(), "has none") {
		t.Errorf("Check = %v, want that the server has none", err)
	}
}

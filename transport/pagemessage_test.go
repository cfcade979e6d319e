package transport

import (
	"errors"
	"strings"
	"testing"
)

func TestCheckMessage(t *testing.T) {
	long := strings.Repeat("x", MessageNameLenMax)
	most := `"` + strings.Repeat("x", MessageDataLenMax-2) + `"`
	for _, c := range []struct{ name, data, field string }{
		{"cart", `{"items":3}`, ""},
		{"Cart.items_2-new", "null", ""},
		{long, most, ""},
		{"", "1", "name"},
		{long + "x", "1", "name"},
		{"two words", "1", "name"},
		{"r\u00e9sum\u00e9", "1", "name"},
		{"a\n", "1", "name"},
		{"a", "", "data"},
		{"a", "{", "data"},
		{"a", most + " ", "data"},
	} {
		err := CheckMessage(c.name, c.data)
		var fe *FieldError
		switch {
		case c.field == "" && err != nil:
			t.Errorf("%.20q: %v", c.name, err)
		case c.field != "" && (!errors.As(err, &fe) || fe.Field != c.field):
			t.Errorf("%.20q with %d bytes: %v, want a refusal of the %s", c.name, len(c.data), err, c.field)
		case err != nil && len(err.Error()) > 200:
			t.Errorf("the refusal quotes what came: %v", err)
		}
	}
}

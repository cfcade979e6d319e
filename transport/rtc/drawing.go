package rtc

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
)

// appendDrawing appends the event that carries the drawing of a net, compressed: uncompressed it
// would exceed the browsers' message limit and delay the events behind it.
func appendDrawing(dst []byte, svg string) ([]byte, error) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := io.WriteString(w, svg); err != nil {
		return nil, fmt.Errorf("compress the drawing: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("compress the drawing: %w", err)
	}
	dst = append(dst, `{"type":"net_graph","svg_gzip":"`...)
	dst = base64.StdEncoding.AppendEncode(dst, packed.Bytes())
	return append(dst, `"}`...), nil
}

package petri

import "reflect"

// owned returns the payload of an initial token for one machine. It copies the value that a pointer
// points to, so that the actions of one machine do not change the payloads of another.
func owned(payload any) any {
	v := reflect.ValueOf(payload)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return payload
	}
	c := reflect.New(v.Type().Elem())
	c.Elem().Set(v.Elem())
	return c.Convert(v.Type()).Interface()
}

// shared returns the type of the value inside an initial payload that machines would share although
// each owns a copy. It returns "" if they share nothing.
func shared(payload any) string {
	v := reflect.ValueOf(payload)
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	return sharedIn(v)
}

func sharedIn(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		if !v.IsZero() {
			return v.Type().String()
		}
	case reflect.Slice:
		if v.Cap() > 0 {
			return v.Type().String()
		}
	case reflect.Interface:
		return sharedIn(v.Elem())
	case reflect.Array:
		for i := range v.Len() {
			if what := sharedIn(v.Index(i)); what != "" {
				return what
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if what := sharedIn(v.Field(i)); what != "" {
				return what
			}
		}
	}
	return ""
}

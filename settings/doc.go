// Package settings reads the configuration of a gateway: a YAML file, the environment and flags.
//
//	s, err := settings.Load("voicegw.yaml")
//	if err != nil {
//		return err // every mistake: its key, its value, where it is, and what is valid
//	}
//	cfg, err := s.Gateway()
//	if err != nil {
//		return err
//	}
//	cfg.Dialer = s.Wire()
//	gw, err := voicegw.New(cfg)
//
// A [Row] is one setting: its key, default, limits and purpose. The rows are the only list of
// settings: the decoder, the flags and their help, the table of docs/configuration.md and the JSON
// [Schema] are made from them. [Settings] are their values.
package settings

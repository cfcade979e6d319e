//go:build !linux && !darwin

package main

import "errors"

func freeBytes(string) (uint64, error) { return 0, errors.ErrUnsupported }

func descriptorsMax() (uint64, error) { return 0, errors.ErrUnsupported }

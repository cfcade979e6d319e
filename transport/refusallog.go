package transport

import "go.uber.org/zap"

// RefusalLogger is the name of the logger of refusals. A stranger can cause them without a call, so
// a program may limit its lines.
const RefusalLogger = "refusal"

// RefusalLog returns the logger for refusals of an endpoint that logs to log.
func RefusalLog(log *zap.Logger) *zap.Logger { return log.Named(RefusalLogger) }

{{- define "voicegw.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-{{ .Chart.Name }}{{ end -}}
{{- end }}

{{- define "voicegw.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "voicegw.labels" -}}
{{ include "voicegw.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- /* The file of settings: those that other values decide win over config. */}}
{{- define "voicegw.config" -}}
{{- $limits := dict "drain_delay" (printf "%ds" (int .Values.drainDelaySeconds)) "drain_limit" (printf "%ds" (int .Values.drainLimitSeconds)) "shutdown_timeout" (printf "%ds" (int .Values.shutdownTimeoutSeconds)) }}
{{- $own := dict "listen" ":8080" "calls_max" (int .Values.callsMax) "limits" $limits }}
{{- if .Values.admin.enabled }}
{{- $file := printf "/secrets/%s" .Values.admin.tokenFile }}
{{- $own = merge $own (dict "admin" (dict "listen" (printf "0.0.0.0:%d" (int .Values.admin.port)) "token_file" $file)) }}
{{- end }}
{{- if .Values.webrtc.enabled }}
{{- $own = merge $own (dict "webrtc" (dict "listen" (printf "0.0.0.0:%d" (int .Values.webrtc.hostPort)))) }}
{{- end }}
{{- mergeOverwrite (deepCopy .Values.config) $own | toYaml }}
{{- end }}

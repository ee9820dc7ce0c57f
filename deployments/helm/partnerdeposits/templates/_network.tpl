{{- define "pd.toDNS" -}}
- to: {{ toYaml .Values.networkPolicy.dns | nindent 4 }}
  ports:
    - {protocol: UDP, port: 53}
    - {protocol: TCP, port: 53}
{{- end -}}

{{/* Egress to a store. Called with {to, ports}. */}}
{{- define "pd.toStore" -}}
- to: {{ toYaml .to | nindent 4 }}
  ports:
    {{- range .ports }}
    - {protocol: TCP, port: {{ . }}}
    {{- end }}
{{- end -}}

{{/* Every address but the special ranges and those of the cluster. */}}
{{- define "pd.world" -}}
{{- with .Values.networkPolicy -}}
- ipBlock:
    cidr: 0.0.0.0/0
    except: {{ toYaml (concat .excludedRanges.ipv4 .clusterRanges.ipv4) | nindent 6 }}
- ipBlock:
    cidr: 2000::/3
    except: {{ toYaml (concat .excludedRanges.ipv6 .clusterRanges.ipv6) | nindent 6 }}
{{- end -}}
{{- end -}}

{{/* Prometheus alone reads metrics. */}}
{{- define "pd.fromPrometheus" -}}
- from: {{ toYaml .Values.networkPolicy.prometheus | nindent 4 }}
  ports:
    - {protocol: TCP, port: metrics}
{{- end -}}

{{/* Egress that http and dispatcher have in common. */}}
{{- define "pd.toStores" -}}
{{- include "pd.toDNS" . }}
{{ include "pd.toStore" .Values.networkPolicy.postgres }}
{{ include "pd.toStore" .Values.networkPolicy.redis }}
{{- with .Values.networkPolicy.extraEgress }}
{{ toYaml . }}
{{- end }}
{{- end -}}

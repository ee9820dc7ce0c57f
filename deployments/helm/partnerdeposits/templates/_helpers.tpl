{{- define "pd.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{/* The name of the release's objects, short enough for suffixes such as -dispatcher. */}}
{{- define "pd.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "pd.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "pd.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{/* Labels by which selectors find the pods of a component. Called with (dict "root" $ "component" "http"). */}}
{{- define "pd.selector" -}}
app.kubernetes.io/name: {{ include "pd.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{/* Labels of pods. Those of the chart's version are left out, so that an upgrade without a change rolls none. */}}
{{- define "pd.podLabels" -}}
{{ include "pd.selector" . }}
{{- range list .root.Values.commonLabels .root.Values.podLabels }}
{{- with . }}
{{ toYaml . }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "pd.labels" -}}
{{ include "pd.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "pd.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The port of a setting such as ":8080". */}}
{{- define "pd.port" -}}
{{- regexFind "[0-9]+$" . -}}
{{- end -}}

{{/* The name of a host from an origin such as https://api.example.com. */}}
{{- define "pd.host" -}}
{{- (urlParse .).hostname -}}
{{- end -}}

{{/* A JSON list of the hosts of both origins, each once. */}}
{{- define "pd.hosts" -}}
{{- $hosts := list -}}
{{- $settings := mergeOverwrite (deepCopy .Values.settings) (deepCopy .Values.http.settings) -}}
{{- range list "API_BASE_URL" "DASHBOARD_BASE_URL" -}}
{{- with get $settings . -}}{{- $hosts = append $hosts (include "pd.host" .) -}}{{- end -}}
{{- end -}}
{{- uniq $hosts | toJson -}}
{{- end -}}

{{/* The text of a value: YAML reads 1000000 as a float, which would print as 1e+06. */}}
{{- define "pd.text" -}}
{{- if and (kindIs "float64" .) (eq (float64 (int64 .)) .) -}}{{- int64 . -}}{{- else -}}{{- . -}}{{- end -}}
{{- end -}}

{{/* The settings of a process as a list of env. Called with a dict of settings. */}}
{{- define "pd.env" -}}
{{- range $name, $value := . }}
{{- if not (kindIs "invalid" $value) }}
- {name: {{ $name }}, value: {{ include "pd.text" $value | quote }}}
{{- end }}
{{- end }}
{{- end -}}

{{/*
The secrets of a process: a JSON object from setting to {name, key} of its Secret. Called with
(dict "root" $ "only" list), where an empty list takes all.
*/}}
{{- define "pd.secrets" -}}
{{- $values := .root.Values.secrets -}}
{{- $all := dict -}}
{{- range $values.keys -}}
{{- $_ := required "secrets.existingSecret: names the Secret that holds secrets.keys" $values.existingSecret -}}
{{- $_ := set $all . (dict "name" $values.existingSecret "key" .) -}}
{{- end -}}
{{- $all = mergeOverwrite $all (deepCopy $values.from) -}}
{{- $settings := .root.Values.settings -}}
{{- $needed := list "DATABASE_URL" "REDIS_URL" "SECRETS_KEYSET" -}}
{{- if eq (toString $settings.DATABASE_POOLED) "true" -}}{{- $needed = append $needed "DATABASE_DIRECT_URL" -}}{{- end -}}
{{- if eq $settings.SERVICE_ENV "production" -}}{{- $needed = append $needed "SMTP_URL" -}}{{- end -}}
{{- if eq (toString $settings.PAYMENTS_PROVIDER) "stripe" -}}
{{- $needed = append $needed "STRIPE_SECRET_KEY" -}}
{{- if eq $settings.SERVICE_ENV "production" -}}{{- $needed = append $needed "STRIPE_WEBHOOK_SECRET" -}}{{- end -}}
{{- end -}}
{{- range $needed -}}
{{- if not (hasKey $all .) -}}{{- fail (printf "secrets: %s is in neither secrets.keys nor secrets.from" .) -}}{{- end -}}
{{- end -}}
{{- $taken := $all -}}
{{- if .only -}}
{{- $taken = dict -}}
{{- range .only -}}{{- if hasKey $all . -}}{{- $_ := set $taken . (get $all .) -}}{{- end -}}{{- end -}}
{{- end -}}
{{- toJson $taken -}}
{{- end -}}

{{- define "pd.secretEnv" -}}
{{- range $name, $_ := . }}
- {name: {{ $name }}_FILE, value: /run/secrets/partnerdeposits/{{ $name }}}
{{- end }}
{{- end -}}

{{/* Called with (dict "root" $ "secrets" (dict …)). */}}
{{- define "pd.secretVolume" -}}
name: secrets
projected:
  defaultMode: 0440
  sources:
    {{- range $name, $from := mergeOverwrite (deepCopy .root.Values.secrets.files) .secrets }}
    - secret: {name: {{ $from.name }}, items: [{key: {{ $from.key | quote }}, path: {{ $name }}}]}
    {{- end }}
{{- end -}}

{{/*
A hash of the secrets' present values, so that an upgrade after a change rolls the pods. Without a cluster, as in
`helm template`, lookup finds nothing and the hash is that of nothing.
*/}}
{{- define "pd.secretsHash" -}}
{{- $found := dict -}}
{{- range $name, $from := .secrets -}}
{{- $secret := lookup "v1" "Secret" $.root.Release.Namespace $from.name -}}
{{- if $secret -}}{{- $_ := set $found $name (get (default dict $secret.data) $from.key) -}}{{- end -}}
{{- end -}}
{{- toJson $found | sha256sum -}}
{{- end -}}

{{/* 90 % of a memory limit in Mi or Gi, at which Go's collector works harder. */}}
{{- define "pd.memoryLimit" -}}
{{- $limit := toString (default "" (dig "limits" "memory" "" .)) -}}
{{- if regexMatch "^[0-9]+Gi$" $limit -}}{{- div (mul (trimSuffix "Gi" $limit | int64) 1024 9) 10 -}}MiB
{{- else if regexMatch "^[0-9]+Mi$" $limit -}}{{- div (mul (trimSuffix "Mi" $limit | int64) 9) 10 -}}MiB
{{- end -}}
{{- end -}}

{{/* What the Pod Security Standard "restricted" asks of a pod. */}}
{{- define "pd.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "pd.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}

{{/* Where pods may run. */}}
{{- define "pd.placement" -}}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

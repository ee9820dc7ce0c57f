{{/*
The Deployment, PodDisruptionBudget and HorizontalPodAutoscaler of a process. Called with
(dict "root" $ "component" "http" "secrets" (dict …)).
*/}}
{{- define "pd.process" -}}
{{- $root := .root -}}
{{- $values := get $root.Values .component -}}
{{- $fullname := printf "%s-%s" (include "pd.fullname" $root) .component -}}
{{- $settings := mergeOverwrite (deepCopy $root.Values.settings) (deepCopy $values.settings) -}}
{{- $secrets := omit (include "pd.secrets" (dict "root" $root) | fromJson) "DATABASE_DIRECT_URL" -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $fullname }}
  namespace: {{ $root.Release.Namespace }}
  labels: {{ include "pd.labels" . | nindent 4 }}
  {{- with $root.Values.deploymentAnnotations }}
  annotations: {{ toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- if not $values.autoscaling.enabled }}
  replicas: {{ $values.replicas }}
  {{- end }}
  revisionHistoryLimit: 5
  strategy:
    type: RollingUpdate
    rollingUpdate: {maxUnavailable: 0, maxSurge: {{ $values.maxSurge }}}
  selector:
    matchLabels: {{ include "pd.selector" . | nindent 6 }}
  template:
    metadata:
      labels: {{ include "pd.podLabels" . | nindent 8 }}
      annotations:
        checksum/secrets: {{ include "pd.secretsHash" (dict "root" $root "secrets" $secrets) }}
        {{- with $root.Values.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      serviceAccountName: {{ include "pd.serviceAccount" $root }}
      automountServiceAccountToken: false
      enableServiceLinks: false
      terminationGracePeriodSeconds: {{ $values.terminationGracePeriodSeconds }}
      securityContext: {{ include "pd.podSecurity" . | nindent 8 }}
      {{- with $root.Values.imagePullSecrets }}
      imagePullSecrets: {{ toYaml . | nindent 8 }}
      {{- end }}
      {{- include "pd.placement" $root | nindent 6 }}
      topologySpreadConstraints:
        {{- range $key, $unsatisfiable := dict "kubernetes.io/hostname" $root.Values.spread.nodes "topology.kubernetes.io/zone" $root.Values.spread.zones }}
        - maxSkew: 1
          topologyKey: {{ $key }}
          whenUnsatisfiable: {{ $unsatisfiable }}
          matchLabelKeys: [pod-template-hash]
          labelSelector:
            matchLabels: {{ include "pd.selector" $ | nindent 14 }}
        {{- end }}
      containers:
        - name: {{ .component }}
          image: {{ include "pd.image" $root }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          command: [/{{ .component }}]
          env:
            {{- with include "pd.memoryLimit" $values.resources }}
            - {name: GOMEMLIMIT, value: {{ . }}}
            {{- end }}
            {{- include "pd.env" $settings | nindent 12 }}
            {{- include "pd.secretEnv" $secrets | nindent 12 }}
          ports:
            {{- if eq .component "http" }}
            - {name: http, containerPort: {{ include "pd.port" $settings.HTTP_ADDR }}}
            {{- end }}
            - {name: metrics, containerPort: {{ include "pd.port" $settings.METRICS_ADDR }}}
          startupProbe: # a minute
            httpGet: {path: /livez, port: metrics}
            periodSeconds: 1
            failureThreshold: 60
          livenessProbe:
            httpGet: {path: /livez, port: metrics}
            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 3
          readinessProbe: # DRAIN_DELAY is longer than its three seconds
            httpGet: {path: /readyz, port: metrics}
            periodSeconds: 1
            timeoutSeconds: 2
            failureThreshold: 3
          resources: {{ toYaml $values.resources | nindent 12 }}
          securityContext: {{ include "pd.containerSecurity" . | nindent 12 }}
          volumeMounts:
            - {name: secrets, mountPath: /run/secrets/partnerdeposits, readOnly: true}
            - {name: tmp, mountPath: /tmp}
      volumes:
        - {{- include "pd.secretVolume" (dict "root" $root "secrets" $secrets) | nindent 10 }}
        - name: tmp
          emptyDir: {sizeLimit: {{ $values.tmpSize }}}
{{- if $values.podDisruptionBudget.enabled }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ $fullname }}
  namespace: {{ $root.Release.Namespace }}
  labels: {{ include "pd.labels" . | nindent 4 }}
spec:
  maxUnavailable: {{ $values.podDisruptionBudget.maxUnavailable }}
  unhealthyPodEvictionPolicy: AlwaysAllow # a pod that is not ready must not keep a node from being drained
  selector:
    matchLabels: {{ include "pd.selector" . | nindent 6 }}
{{- end }}
{{- if $values.autoscaling.enabled }}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ $fullname }}
  namespace: {{ $root.Release.Namespace }}
  labels: {{ include "pd.labels" . | nindent 4 }}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: {{ $fullname }}}
  minReplicas: {{ $values.autoscaling.minReplicas }}
  maxReplicas: {{ $values.autoscaling.maxReplicas }}
  metrics:
    {{- if eq .component "http" }}
    - type: Resource
      resource:
        name: cpu
        target: {type: Utilization, averageUtilization: {{ $values.autoscaling.cpuUtilization }}}
    {{- else }}
    {{- with $values.autoscaling.metric }}
    - type: External
      external:
        metric:
          name: {{ .name }}
          {{- with .matchLabels }}
          selector:
            matchLabels: {{ toYaml . | nindent 14 }}
          {{- end }}
        target: {type: AverageValue, averageValue: {{ .averageValue | quote }}}
    {{- end }}
    {{- end }}
{{- end }}
{{- end -}}

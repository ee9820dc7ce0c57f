package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
)

type Jobs struct {
	runs        *prometheus.CounterVec
	lastSuccess *prometheus.GaugeVec
}

// RegisterJobs registers the metrics of clocked jobs. names lists all values of the label job.
func (r *Registry) RegisterJobs(names []string) *Jobs {
	j := &Jobs{
		runs: r.counters("svc_job_runs_total", "Rounds of a job, by how they ended.", "job", "result"),
		lastSuccess: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "svc_job_last_success_timestamp_seconds",
			Help: "When this process last ended a round of the job without an error; 0: not yet.",
		}, []string{"job"}),
	}
	r.prometheus.MustRegister(j.lastSuccess)
	for _, name := range names {
		j.lastSuccess.WithLabelValues(name)
		for _, succeeded := range []bool{true, false} {
			j.runs.WithLabelValues(name, roundResult(succeeded))
		}
	}
	return j
}

func (j *Jobs) CountRound(job string, succeeded bool) {
	j.runs.WithLabelValues(job, roundResult(succeeded)).Inc()
	if succeeded {
		j.lastSuccess.WithLabelValues(job).SetToCurrentTime()
	}
}

func roundResult(succeeded bool) string {
	if succeeded {
		return "succeeded"
	}
	return "failed"
}

package connect

// Outcome is the value of the parameter connectStatus, which a connect page adds to the partner's return URL.
type Outcome string

// The outcomes of a connect page that the return URL can carry (api.md §4).
const (
	OutcomeLinked        Outcome = "linked"
	OutcomeAlreadyLinked Outcome = "already_linked"
	OutcomeFailed        Outcome = "error"
)

// Outcomes lists every outcome of a connect page.
var Outcomes = []Outcome{OutcomeLinked, OutcomeAlreadyLinked, OutcomeFailed}

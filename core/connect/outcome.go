package connect

// LinkResult is the value of connectStatus, which a connect page adds to the partner's return URL.
type LinkResult string

// The outcomes of a connect page that the return URL can carry (api.md §4).
const (
	OutcomeLinked        LinkResult = "linked"
	OutcomeAlreadyLinked LinkResult = "already_linked"
	OutcomeFailed        LinkResult = "error"
)

// ConnectOutcomes lists every outcome of a connect page.
var ConnectOutcomes = []LinkResult{OutcomeLinked, OutcomeAlreadyLinked, OutcomeFailed}

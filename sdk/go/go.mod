module partnerdeposits/sdk/go

go 1.23

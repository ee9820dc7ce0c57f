package dashboard

import (
	"github.com/gofiber/fiber/v2"

	"partnerdeposits/core/site"
)

// Mount registers the routes of the operator's pages on the app that serves the dashboard's host.
func Mount(app fiber.Router, d Deps) {
	if d.Uploads == nil {
		d.Uploads = NewUploads(placesAtOnce, bytesAtOnce, uploadTime)
	}
	p := &pages{Deps: d, exports: newWorks(placesAtOnce, bytesAtOnce, errExports)}
	app.Get(pathDashboard, d.Site.Headers, p.signedIn(p.showToday))
	app.Get(pathExport, d.Site.Headers, p.signedIn(p.export))
	app.Get(pathDeposits, d.Site.Headers, p.signedIn(p.showList))
	app.Post(pathDeposits, d.Site.Headers, p.signedIn(p.several))
	app.Get(site.Several, d.Site.Headers, p.signedIn(p.showSeveral))
	app.Get(pathNew, d.Site.Headers, p.signedIn(p.showNew))
	app.Post(pathNew, d.Site.Headers, p.signedIn(p.create))
	app.Get(site.NewAgain, d.Site.Headers, p.signedIn(p.showNewAgain))
	app.Get(pathDeposit, d.Site.Headers, p.signedIn(p.showDeposit))
	app.Post(pathDeposit, d.Site.Headers, p.signedIn(p.act))
	app.Get(site.Claim, d.Site.Headers, p.signedIn(p.showClaim))
	app.Get(site.Question, d.Site.Headers, p.signedIn(p.showQuestion))
	app.Get(pathFile, d.Site.Headers, p.signedIn(p.download))
	app.Get(pathMoney, d.Site.Headers, p.signedIn(p.showMoney))
	app.Get(site.MoneyExport, d.Site.Headers, p.signedIn(p.exportMoney))
	app.Get(pathPartner, d.Site.Headers, p.signedIn(p.showPartner))
	app.Post(pathPartner, d.Site.Headers, p.signedIn(p.partnerForm))
	app.Get(pathSettings, d.Site.Headers, p.signedIn(p.showSettings))
	app.Post(pathSettings, d.Site.Headers, p.signedIn(p.settings))
	app.Post(pathUnlink, d.Site.Headers, p.signedIn(p.unlink))
}

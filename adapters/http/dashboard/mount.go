package dashboard

import (
	"github.com/gofiber/fiber/v2"

	"partnerdeposits/core/site"
)

func Mount(app fiber.Router, d Deps) {
	if d.Uploads == nil {
		d.Uploads = NewUploadLimits(placesAtOnce, bytesAtOnce, uploadTime)
	}
	p := &pages{Deps: d, exports: newWorks(placesAtOnce, bytesAtOnce, errExports)}
	app.Get(pathDashboard, d.Site.PageMiddleware, p.signedIn(p.showToday))
	app.Get(pathExport, d.Site.PageMiddleware, p.signedIn(p.export))
	app.Get(pathDeposits, d.Site.PageMiddleware, p.signedIn(p.showList))
	app.Post(pathDeposits, d.Site.PageMiddleware, p.signedIn(p.several))
	app.Get(site.ConfirmBulkActionPath, d.Site.PageMiddleware, p.signedIn(p.showSeveral))
	app.Get(pathNew, d.Site.PageMiddleware, p.signedIn(p.showNew))
	app.Post(pathNew, d.Site.PageMiddleware, p.signedIn(p.create))
	app.Get(site.RetryNewDepositPath, d.Site.PageMiddleware, p.signedIn(p.showNewAgain))
	app.Get(pathDeposit, d.Site.PageMiddleware, p.signedIn(p.showDeposit))
	app.Post(pathDeposit, d.Site.PageMiddleware, p.signedIn(p.act))
	app.Get(site.ClaimPath, d.Site.PageMiddleware, p.signedIn(p.showClaim))
	app.Get(site.ConfirmDepositPath, d.Site.PageMiddleware, p.signedIn(p.showQuestion))
	app.Get(pathFile, d.Site.PageMiddleware, p.signedIn(p.download))
	app.Get(pathMoney, d.Site.PageMiddleware, p.signedIn(p.showMoney))
	app.Get(site.MoneyExportPath, d.Site.PageMiddleware, p.signedIn(p.exportMoney))
	app.Get(pathPartner, d.Site.PageMiddleware, p.signedIn(p.showPartner))
	app.Post(pathPartner, d.Site.PageMiddleware, p.signedIn(p.partnerForm))
	app.Get(pathSettings, d.Site.PageMiddleware, p.signedIn(p.showSettings))
	app.Post(pathSettings, d.Site.PageMiddleware, p.signedIn(p.settings))
	app.Post(pathUnlink, d.Site.PageMiddleware, p.signedIn(p.unlink))
}

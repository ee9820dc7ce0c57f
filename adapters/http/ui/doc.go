// Package ui holds the parts that all pages for people share: layout and form components (templ), the stylesheet,
// security headers, cookies and CSRF tokens, and the two languages.
//
// Render writes a page from a component that uses Layout:
//
//	templ LogIn(v View) {
//		@ui.Layout(v.Page) {
//			<h1>{ logInTitle.In(v.Page.Lang) }</h1>
//			…
//		}
//	}
//
// Every route for people runs Site.Headers first. Pages work without JavaScript, and their policy forbids scripts.
package ui

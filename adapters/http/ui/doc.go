// Package ui is what all pages for people share: the layout and the form components (templ), the one stylesheet, the
// security headers, cookies and CSRF tokens, and the two languages.
//
// A page is rendered with Render, from a component that wraps itself in Layout:
//
//	templ LogIn(v View) {
//		@ui.Layout(v.Page) {
//			<h1>{ logInTitle.In(v.Page.Lang) }</h1>
//			…
//		}
//	}
//
// Every group of routes for people puts Headers in front. Pages work without JavaScript and allow none.
package ui

package docs

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMarkdown(t *testing.T) {
	cases := map[string]string{
		"one\ntwo\n\nthree":               "<p>one two</p><p>three</p>",
		"a `x < 1` and **bold**":          "<p>a <code>x &lt; 1</code> and <strong>bold</strong></p>",
		"<script>alert(1)</script>":       "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>",
		"[x](https://a.example/?a=1&b=2)": `<p><a href="https://a.example/?a=1&amp;b=2">x</a></p>`,
		"[x](javascript:alert(1))":        "<p>[x](javascript:alert(1))</p>",
		"- a\n- b\n  goes on\n\nafter":    "<ul><li>a</li><li>b goes on</li></ul><p>after</p>",
		"text:\n- a":                      "<p>text:</p><ul><li>a</li></ul>",
		"```\nif a < b {\n\n}\n```\nafter": `<div class="sample" data-copy><pre tabindex="0"><code>if a &lt; b {` +
			"\n\n}" + `</code></pre></div><p>after</p>`,
		"| A | B |\n|---|---|\n| `x` | y & z |": `<div class="table" tabindex="0"><table><thead><tr><th>A</th><th>B</th></tr></thead><tbody><tr><td><code>x</code></td><td>y &amp; z</td></tr></tbody></table></div>`,
		"":                                      "",
	}
	for in, want := range cases {
		require.Equal(t, want, string(markdown(in)), in)
	}
}

func TestHighlight_EscapesEverything(t *testing.T) {
	require.Equal(t,
		`{<span class="k">&#34;a&lt;b&#34;</span>: <span class="s">&#34;&lt;i&gt; 12 true&#34;</span>, <span class="k">&#34;n&#34;</span>: <span class="n">-1.5e3</span>, <span class="k">&#34;t&#34;</span>: [<span class="n">true</span>, <span class="n">null</span>]}`,
		highlight(`{"a<b": "<i> 12 true", "n": -1.5e3, "t": [true, null]}`))
}

package docs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProse(t *testing.T) {
	t.Parallel()
	cases := map[markdownText]string{
		"one\ntwo\n\nthree":                  "<p>one\ntwo</p>\n<p>three</p>\n",
		"a `x < 1` and **bold**":             "<p>a <code>x &lt; 1</code> and <strong>bold</strong></p>\n",
		"<script>alert(1)</script>":          "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>\n",
		"a\n\n<b>x</b> <!-- y -->":           "<p>a</p>\n<p>&lt;b&gt;x&lt;/b&gt; &lt;!-- y --&gt;</p>\n",
		"<!-- for tests -->\na":              "<p>a</p>\n",
		"[x](https://a.example/?a=1&b=2)":    `<p><a href="https://a.example/?a=1&amp;b=2">x</a></p>` + "\n",
		"[x](webhooks.md#go)":                `<p><a href="/docs/webhooks#go">x</a></p>` + "\n",
		"the [a `b`](../../sdk/README.md) c": "<p>the a <code>b</code> c</p>\n",
		"- a\n- b\n  goes on\n\nafter":       "<ul>\n<li>a</li>\n<li>b\ngoes on</li>\n</ul>\n<p>after</p>\n",
		"## Steps, `in` order":               `<h2 id="steps-in-order">Steps, <code>in</code> order</h2>` + "\n",
		"### `not_found`":                    `<h3 id="not_found"><code>not_found</code></h3>` + "\n",
		"```\nif a < b {\n\n}\n```\nafter": `<div class="sample" data-copy><pre tabindex="0"><code>if a &lt; b {` +
			"\n\n}" + `</code></pre></div><p>after</p>` + "\n",
		"": "",
	}
	for in, want := range cases {
		out, err := in.HTML()
		require.NoError(t, err, in)
		require.Equal(t, want, string(out), in)
	}
	table, err := markdownText("| A | B |\n|---|---|\n| `x` | y & z |").HTML()
	require.NoError(t, err)
	require.Contains(t, table, `<div class="table" tabindex="0"><table>`)
	require.Contains(t, table, `<td>y &amp; z</td>`)
}

func TestProse_ALinkThatLeavesTheSite_IsAnError(t *testing.T) {
	t.Parallel()
	for _, to := range []string{
		"javascript:alert(1)", "operations.md", "../spec/api.md", "http://a.example", "//a.example",
	} {
		_, err := markdownText("[x](" + to + ")").HTML()
		require.ErrorContains(t, err, to)
	}
}

func TestProse_SamplesOfSeveralLanguagesInARow_AreTabs(t *testing.T) {
	t.Parallel()
	const php, node = "```php\n$a < 1;\n```\n", "```js\nlet a;\n```\n"
	both, err := markdownText(php + "\n" + node + "after").HTML()
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(both), "<fieldset"))
	require.Regexp(t, `(?s)value="php" checked.*>PHP</label>.*value="node">.*class="of-php".*\$a &lt; 1;.*class="of-node".*let a;`,
		both)
	for _, apart := range []markdownText{php + "and\n" + node, php, php + "```js server.js\nlet a;\n```"} {
		out, err := apart.HTML()
		require.NoError(t, err)
		require.NotContains(t, out, "<fieldset")
	}
}

func TestHighlight_EscapesEverything(t *testing.T) {
	require.Equal(t,
		`{<span class="k">&#34;a&lt;b&#34;</span>: <span class="s">&#34;&lt;i&gt; 12 true&#34;</span>, <span class="k">&#34;n&#34;</span>: <span class="n">-1.5e3</span>, <span class="k">&#34;t&#34;</span>: [<span class="n">true</span>, <span class="n">null</span>]}`,
		highlight(`{"a<b": "<i> 12 true", "n": -1.5e3, "t": [true, null]}`))
}

(() => {
  const faults = [];
  const fault = (text, e) => faults.push(text + ": " + (e.id || e.className || e.tagName) + " " + (e.textContent || "").trim().slice(0, 40));
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const known = new Map(); // a page has few colours, and each reading of a canvas is slow
  const rgba = (color) => {
    if (!known.has(color)) known.set(color, painted(color));
    return known.get(color);
  };
  const painted = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const luminance = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (e) => {
    for (let at = e; at; at = at.parentElement) {
      const color = rgba(getComputedStyle(at).backgroundColor);
      if (color[3] === 255) return color;
    }
    return [255, 255, 255, 255];
  };
  const contrast = (a, b) => {
    const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
    return (high + 0.05) / (low + 0.05);
  };
  const seen = (e) => e.checkVisibility({checkOpacity: true, checkVisibilityCSS: true}) && !e.closest(".unseen, .skip");
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const e = node.parentElement;
    if (!node.textContent.trim() || !seen(e)) continue;
    const style = getComputedStyle(e);
    const ratio = contrast(rgba(e.closest("svg") ? style.fill : style.color), ground(e));
    if (ratio < 4.5) fault("contrast " + ratio.toFixed(2), e);
  }
  for (const e of document.querySelectorAll("a, button, input:not([type=hidden]), select, textarea, summary")) {
    if (!seen(e)) continue;
    const box = e.getBoundingClientRect();
    const sentence = e.closest("p, li, td");
    const within = e.tagName === "A" && (e.closest(".alert, .second") || sentence && sentence.textContent.trim() !== e.textContent.trim()); // a word of a sentence
    if (!within && (box.height < 24 || box.width < 24)) fault("target " + box.width.toFixed(0) + "x" + box.height.toFixed(0), e);
    if (box.right > document.documentElement.clientWidth + 1) fault("beyond the edge", e);
    if (!e.textContent.trim() && !(e.labels && e.labels.length) && !e.getAttribute("aria-label")) fault("no name", e);
  }
  for (const e of document.querySelectorAll("[aria-invalid]")) {
    const described = (e.getAttribute("aria-describedby") || "").split(" ").map((id) => document.getElementById(id));
    if (!described.some((d) => d && d.matches(".error") && d.textContent.trim())) fault("mistake without its text", e);
    if (!document.querySelector(`[role=alert] a[href="#${e.id}"]`) && !document.querySelector("section.light")) fault("mistake that the summary does not name", e);
  }
  for (const e of document.querySelectorAll("iframe")) if (!e.title) fault("frame without a title", e);
  for (const e of document.querySelectorAll("img")) if (!e.hasAttribute("alt")) fault("picture without a text", e);
  for (const e of document.querySelectorAll("[lang]")) if (!["en", "fr"].includes(e.lang)) fault("language " + e.lang, e);
  for (const e of document.querySelectorAll(".langs a")) if (e.lang !== e.hreflang || e.lang === document.documentElement.lang) fault("language of a part", e);
  if (document.querySelectorAll("main").length !== 1) faults.push("not one main part");
  if (!document.title.trim()) faults.push("no title");
  const loaded = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource").filter((e) => e.initiatorType !== "iframe")];
  const weight = loaded.reduce((sum, e) => sum + e.encodedBodySize, 0);
  if (weight > MOST) faults.push("weighs " + weight);
  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) faults.push("id twice: " + id);
  for (const e of document.querySelectorAll("[aria-describedby], [aria-labelledby]")) {
    for (const id of (e.getAttribute("aria-describedby") || e.getAttribute("aria-labelledby")).split(" ")) {
      if (!document.getElementById(id)) fault("refers to nothing, " + id, e);
    }
  }
  for (const e of document.querySelectorAll(".alert a")) if (!document.querySelector(e.hash)) fault("mistake without a field", e);
  const levels = [...document.querySelectorAll("h1, h2, h3")].map((e) => Number(e.tagName[1]));
  if (levels.filter((l) => l === 1).length !== 1 || levels[0] !== 1) faults.push("headings " + levels);
  const provider = location.pathname.startsWith("/sandbox/pay/"); // a page of another company, without our frame
  if (document.querySelectorAll("main, header, nav").length < 3 && !provider) faults.push("landmarks");
  const scrolls = "pre[tabindex='0'], .table[tabindex='0']"; // the keyboard must reach what scrolls in itself
  if (document.querySelector(`[tabindex]:not([tabindex='-1'], ${scrolls})`)) faults.push("a focus order of its own");
  for (const text of [...document.querySelectorAll("body > *")].filter((e) => seen(e) && !e.matches("main, header, nav, footer, script"))) fault("outside of every landmark", text);
  const names = [...document.querySelectorAll("nav")].map((e) => e.getAttribute("aria-label") || "");
  if (names.length > 1 && (names.includes("") || new Set(names).size < names.length)) faults.push("navigations by the same name: " + names);
  const sticks = (e) => ["fixed", "sticky"].includes(getComputedStyle(e).position);
  const above = [...document.querySelectorAll("body *")].filter(sticks);
  const focused = document.activeElement;
  let before = null;
  for (const e of document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary")) {
    if (!seen(e) || e.disabled) continue;
    e.focus();
    const style = getComputedStyle(e);
    if (document.activeElement === e && (style.outlineStyle === "none" || parseFloat(style.outlineWidth) < 2)) fault("focus is not seen", e);
    const at = e.getBoundingClientRect();
    let down = scrollY; // and what parts that scroll in themselves have scrolled
    for (let part = e.parentElement; part && part !== document.documentElement; part = part.parentElement) down += part.scrollTop;
    const box = {left: at.left, top: at.top + down, bottom: at.bottom + down};
    const hit = document.elementFromPoint((at.left + at.right) / 2, (at.top + at.bottom) / 2);
    if (above.some((a) => a.contains(hit) && !a.contains(e))) fault("focus is covered", e);
    if (before && box.bottom <= before.top && box.left <= before.left) fault("focus goes back up", e);
    before = box;
  }
  document.activeElement.blur();
  if (focused) focused.focus({preventScroll: true});
  scrollTo(0, 0);
  if (document.documentElement.scrollWidth > document.documentElement.clientWidth) faults.push("scrolls sideways");
  return faults.join("\n");
})()

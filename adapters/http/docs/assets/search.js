// Adds the search of all pages: every word must occur; titles count more than routes, routes more than text.

const form = document.querySelector(".search");
const input = form.querySelector("input");
const list = form.querySelector("ol");
const status = form.querySelector("[role=status]");
const most = 12;

let entries = [];
let failures = 0;
// load reads the entries of all pages when a reader first searches. A browser may keep the failure of an import, so the
// next try has another address.
const load = async () => {
  const found = (await import(form.dataset.entries + (failures ? "?" + failures : ""))).entries;
  entries = found.map((entry) => ({ ...entry, weight: entry.href.includes("/errors#") ? 0.4 : 1,
    parts: [entry.title, entry.route, entry.names ?? "", entry.text].map((part) => part.toLowerCase()) }));
};
let loading;
const loaded = () => (loading ??= load().catch((failure) => {
  loading = undefined;
  failures++;
  throw failure;
}));

// Error codes weigh less than routes. score is 0 where a word is missing; an early part and the beginning of a word count more.
const score = (entry, words) => {
  let sum = 0;
  for (const word of words) {
    const part = entry.parts.findIndex((text) => text.includes(word));
    if (part < 0) return 0;
    const at = entry.parts[part].indexOf(word);
    sum += [60, 30, 12, 1][part] + (at === 0 || /\W/.test(entry.parts[part][at - 1]) ? 5 : 0) + (entry.parts[part] === word ? 20 : 0);
  }
  return sum * entry.weight;
};

const show = async () => {
  try {
    await loaded();
  } catch {
    status.textContent = "Search is not available";
    return;
  }
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean)
    .map((word) => word.replace(/(?<=...)s$/, "")); // "codes" finds "code"
  const found = words.length === 0 ? [] : entries
    .map((entry) => ({ entry, rank: score(entry, words) }))
    .filter((hit) => hit.rank > 0)
    .sort((a, b) => b.rank - a.rank)
    .slice(0, most);
  list.replaceChildren(...found.map(({ entry }) => {
    const link = document.createElement("a");
    link.href = entry.href;
    const title = document.createElement("b");
    title.textContent = entry.title;
    const route = document.createElement("span");
    route.textContent = entry.route;
    link.append(title, route);
    const item = document.createElement("li");
    item.append(link);
    return item;
  }));
  list.hidden = found.length === 0;
  status.textContent = words.length === 0 ? "" : found.length === 0 ? "Nothing found" : found.length + " found";
};

const close = () => { list.hidden = true; status.textContent = ""; };

form.hidden = false;
input.addEventListener("input", show);
input.addEventListener("focus", show);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  list.querySelector("a")?.click();
});
list.addEventListener("click", (event) => { if (event.target.closest("a")) close(); });
form.addEventListener("focusout", (event) => { if (!form.contains(event.relatedTarget)) close(); });
form.addEventListener("keydown", (event) => {
  const stops = [input, ...list.querySelectorAll("a")];
  const at = stops.indexOf(document.activeElement);
  if (event.key === "Escape") { input.value = ""; show(); input.focus(); }
  if (event.key === "ArrowDown") { event.preventDefault(); stops[Math.min(at + 1, stops.length - 1)]?.focus(); }
  if (event.key === "ArrowUp") { event.preventDefault(); stops[Math.max(at - 1, 0)]?.focus(); }
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
  event.preventDefault();
  input.focus();
});

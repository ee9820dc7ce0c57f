// Leads old anchors on, opens the contents where there is room, keeps the language of samples, adds copy buttons, and
// marks where the reader is. The pages work without it.

// The reference stood at /docs before it had a page of its own. The first page has a link under each of its anchors.
const follow = () => {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  if (target && target.matches("a[href]")) location.replace(target.href);
};
addEventListener("hashchange", follow);
follow();

const menu = document.querySelector(".menu");
const wide = matchMedia("(min-width: 60rem)");
const fit = () => { menu.open = wide.matches; };
wide.addEventListener("change", fit);
fit();
menu.addEventListener("click", (event) => {
  if (event.target.closest("a") && !wide.matches) menu.open = false;
});

// A browser may refuse storage, and every access throws then. The page does without.
const tried = (access) => { try { return access(); } catch { return null; } };

const language = "svc-docs-language";
const choose = (name) => {
  for (const input of document.querySelectorAll(".tabs > input")) if (input.value === name) input.checked = true;
};
addEventListener("change", (event) => {
  if (!event.target.matches(".tabs > input")) return;
  const top = event.target.getBoundingClientRect().top;
  choose(event.target.value);
  scrollBy({ top: event.target.getBoundingClientRect().top - top, behavior: "instant" }); // samples above may have changed their height
  tried(() => localStorage.setItem(language, event.target.value));
});
const asked = new URLSearchParams(location.search).get("lang");
if (asked) tried(() => localStorage.setItem(language, asked));
choose(asked || tried(() => localStorage.getItem(language)));

for (const sample of document.querySelectorAll("[data-copy]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(sample.querySelector("code").textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(sample.querySelector("code"));
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  sample.append(button);
}

const links = new Map([...menu.querySelectorAll("a[href^='#']")].map((a) => [a.hash.slice(1), a]));
const watch = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    menu.querySelector("[aria-current=true]")?.removeAttribute("aria-current");
    const link = links.get(entry.target.id);
    link?.setAttribute("aria-current", "true");
    if (wide.matches) link?.scrollIntoView({ block: "nearest" });
  }
}, { rootMargin: "-15% 0px -75% 0px" });
for (const id of links.keys()) {
  const target = document.getElementById(id);
  if (target) watch.observe(target);
}
if (wide.matches) menu.querySelector("[aria-current=page]").scrollIntoView({ block: "nearest" });

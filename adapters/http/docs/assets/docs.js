// Opens the contents where there is room, adds copy buttons, marks where the reader is. The page works without it.
"use strict";

const menu = document.querySelector(".menu");
const wide = matchMedia("(min-width: 60rem)");
const fit = () => { menu.open = wide.matches; };
wide.addEventListener("change", fit);
fit();
menu.addEventListener("click", (event) => {
  if (event.target.closest("a") && !wide.matches) menu.open = false;
});

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

const links = new Map([...menu.querySelectorAll("a")].map((a) => [a.hash.slice(1), a]));
const watch = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    menu.querySelector("[aria-current]")?.removeAttribute("aria-current");
    const link = links.get(entry.target.id);
    link?.setAttribute("aria-current", "true");
    if (wide.matches) link?.scrollIntoView({ block: "nearest" });
  }
}, { rootMargin: "-15% 0px -75% 0px" });
for (const id of links.keys()) {
  const target = document.getElementById(id);
  if (target) watch.observe(target);
}

// What text of twice its size, or a page of 320 px, would lose: what stands beyond the edge, or is cut.
(() => {
  const faults = [];
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) {
    const wide = [...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > root.clientWidth + 1);
    faults.push("scrolls sideways: " + wide.slice(-1).map((e) => e.tagName + " " + e.className + " " + (e.textContent || "").trim().slice(0, 40)));
  }
  for (const e of document.querySelectorAll("body *")) {
    if (!e.checkVisibility({checkVisibilityCSS: true}) || e.closest(".unseen, .skip, svg") || e.matches("input, select, textarea")) continue;
    const style = getComputedStyle(e);
    if (style.overflowX === "visible" && style.overflowY === "visible") continue;
    const scrolls = ["auto", "scroll"];
    if (!scrolls.includes(style.overflowX) && e.scrollWidth > e.clientWidth + 1 || !scrolls.includes(style.overflowY) && e.scrollHeight > e.clientHeight + 1) {
      faults.push("cuts its text: " + e.tagName + " " + e.className);
    }
  }
  return faults.join("\n");
})()

// Adds a form to each route that sends the request to this installation, with a test key of the reader. The key stays in this tab
// (sessionStorage) and goes to this origin only. Ids of the examples are replaced by ids that the key can use. Production does not
// load this file.

// A browser may refuse storage, and every access throws then. The page does without.
const tried = (access) => { try { return access(); } catch { return null; } };

const stored = "svc-docs-test-key";
const testKey = /^svc_pk_test_[A-Za-z0-9_-]+$/;

const make = (tag, properties = {}, ...children) => {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
};

const uuid = () => {
  const b = crypto.getRandomValues(new Uint8Array(16));
  b[6] = (b[6] & 15) | 64;
  b[8] = (b[8] & 63) | 128;
  return [...b].map((byte, i) => ([4, 6, 8, 10].includes(i) ? "-" : "") + byte.toString(16).padStart(2, "0")).join("");
};

// refusal says why a key is not sent, or "".
const refusal = (key) => {
  if (key === "") return "Type a test key first.";
  if (key.startsWith("svc_pk_live_")) return "This is a live key. Only test keys may be used here; the key was not sent.";
  return testKey.test(key) ? "" : "This is no test key: those begin with svc_pk_test_.";
};

const pretty = (text) => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
};

const headersShown = ["X-Request-Id", "RateLimit", "Idempotent-Replayed", "Retry-After", "Deprecation", "Sunset", "Link"];

const keys = [];
const remember = (value) => {
  if (testKey.test(value)) tried(() => sessionStorage.setItem(stored, value));
  else tried(() => sessionStorage.removeItem(stored));
  for (const input of keys) input.value = value;
};

// lists has the route that lists what a parameter names. asked keeps the answers until a request has changed something.
const lists = JSON.parse(document.querySelector("main").dataset.lists ?? "{}"); // of the reference alone
const asked = new Map();

const itemsOf = (path, key) => {
  const url = path + "?limit=20";
  if (!asked.has(key + url)) {
    asked.set(key + url, fetch(url, { headers: { "x-api-key": key }, credentials: "omit", cache: "no-store", redirect: "error", referrerPolicy: "no-referrer" })
      .then(async (response) => (response.ok ? (await response.json()).data : [])).catch(() => []));
  }
  return asked.get(key + url);
};

// found gives what the key can name in a parameter, the newest first. Outer ids of the path are those in the form.
const found = async (name, form, key) => {
  if (!Object.hasOwn(lists, name)) return null;
  const path = lists[name].replace(/{(\w+)}/g, (_, outer) => encodeURIComponent(form.elements[outer]?.value ?? ""));
  return (await itemsOf(path, key)).map((item) => ({ id: item.id ?? item[name], says: item.reference ?? item.name ?? item.url ?? item.event ?? item.externalId ?? item.lastName ?? "", status: item.status ?? "" }));
};

let choices = 0;
// fill offers the ids that the key can use, and replaces ids of examples by the newest. A reader who deletes chooses.
const fill = async (place, form) => {
  const key = form.elements.key.value.trim();
  if (refusal(key)) return;
  for (const input of form.querySelectorAll("[data-in]")) {
    const known = await found(input.name, form, key);
    if (!known) continue;
    const choice = make("datalist", { id: "ids-" + choices++ }, ...known.map(({ id, says, status }) => make("option", { value: id, label: [says, status].filter(Boolean).join(", ") })));
    document.getElementById(input.getAttribute("list"))?.remove();
    input.setAttribute("list", choice.id);
    input.after(choice);
    const untouched = input.value === input.dataset.example;
    if (known.length > 0 && untouched && input.dataset.in === "path" && place.dataset.verb !== "DELETE") input.value = input.dataset.example = known[0].id;
  }
  const area = form.elements.body;
  if (!area || area.value !== area.dataset.example) return;
  const body = JSON.parse(area.value);
  for (const name of Object.keys(body)) {
    const known = await found(name, form, key);
    const own = known?.filter(({ id }) => id === body[name]).length > 0;
    if (!known || own) continue;
    if (name === "clientId") delete body[name]; // of the account of the example
    else if (known.length > 0) body[name] = known[0].id;
  }
  area.value = area.dataset.example = JSON.stringify(body, null, 2);
};

const field = (label, input) => make("label", {}, make("span", { textContent: label }), input);

const send = async (place, form, answer) => {
  const key = form.elements.key.value.trim();
  const problem = refusal(key);
  answer.hidden = false;
  if (problem) {
    remember("");
    answer.replaceChildren(make("p", { className: "refused", textContent: problem }));
    form.elements.key.focus();
    return;
  }
  remember(key);
  await fill(place, form);
  let path = place.dataset.path;
  const query = new URLSearchParams();
  const headers = { "x-api-key": key };
  for (const input of form.querySelectorAll("[data-in]")) {
    const { name, value } = input;
    if (input.dataset.in === "path") path = path.replace("{" + name + "}", encodeURIComponent(value));
    else if (value !== "" && input.dataset.in === "query") query.set(name, value);
    else if (value !== "") headers[name] = value;
  }
  const options = { method: place.dataset.verb, headers, credentials: "omit", cache: "no-store", redirect: "error", referrerPolicy: "no-referrer" };
  if (form.elements.body?.value.trim()) {
    headers["Content-Type"] = "application/json";
    options.body = form.elements.body.value;
  }
  form.querySelector("button").disabled = true;
  try {
    const started = performance.now();
    const response = await fetch(path + (query.size ? "?" + query : ""), options);
    const text = await response.text();
    if (options.method !== "GET" && response.ok) asked.clear();
    const took = Math.round(performance.now() - started);
    const lines = headersShown.filter((name) => response.headers.has(name)).map((name) => name + ": " + response.headers.get(name));
    answer.replaceChildren(
      make("p", {}, make("b", { className: response.ok ? "fine" : "refused", textContent: response.status }), ` in ${took} ms`),
      make("pre", { tabIndex: 0 }, make("code", { textContent: lines.join("\n") + (text ? "\n\n" + pretty(text) : "") })),
    );
  } catch {
    answer.replaceChildren(make("p", { className: "refused", textContent: "No answer came. Is the service running?" }));
  } finally {
    form.querySelector("button").disabled = false;
  }
};

const formOf = (place) => {
  const key = make("input", { name: "key", type: "password", autocomplete: "off", spellcheck: false, placeholder: "svc_pk_test_…", value: tried(() => sessionStorage.getItem(stored)) ?? "" });
  keys.push(key);
  const form = make("form", {}, field("Test key", key));
  for (const parameter of JSON.parse(place.dataset.params)) {
    const value = parameter.name === "Idempotency-Key" ? uuid() : parameter.in === "path" ? parameter.example : "";
    const input = make("input", { name: parameter.name, value, placeholder: parameter.example, autocomplete: "off", spellcheck: false });
    input.dataset.in = parameter.in;
    input.dataset.example = value;
    form.append(field(parameter.name, input));
  }
  if (place.dataset.body) {
    const area = make("textarea", { name: "body", value: place.dataset.body, spellcheck: false, rows: Math.min(16, place.dataset.body.split("\n").length) });
    area.dataset.example = area.value;
    form.append(field("Body", area));
  }
  const answer = make("div", { className: "outcome", hidden: true });
  answer.setAttribute("role", "status");
  form.append(make("button", { textContent: "Send" }));
  key.addEventListener("change", () => {
    if (!refusal(key.value.trim())) remember(key.value.trim());
    fill(place, form);
  });
  fill(place, form);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(place, form, answer);
  });
  return [form, answer];
};

for (const place of document.querySelectorAll(".samples[data-path]")) {
  const details = make("details", { className: "try" }, make("summary", { textContent: "Try it" }));
  details.addEventListener("toggle", () => {
    if (details.open && details.children.length === 1) details.append(...formOf(place));
  });
  place.prepend(details);
}

// Making elements. Text always goes in as text; no markup is ever parsed.

/**
 * h("button", { class: "primary", type: "button", onclick: f, "aria-label": "…" }, "text", element, …)
 * Properties that start with "on" are listeners; false, null and undefined leave an attribute out; true writes it empty.
 */
export function h(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

export function svg(tag, properties = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), properties, children);
}

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Makes the children of `parent` those of `wanted`, in order, moving only what stands elsewhere: focus, scroll and animations survive. */
export function arrange(parent, wanted) {
  const keep = new Set(wanted);
  for (const child of [...parent.children]) if (!keep.has(child)) child.remove();
  let at = parent.firstElementChild;
  for (const child of wanted) {
    if (child === at) at = at.nextElementSibling;
    else parent.insertBefore(child, at);
  }
}

/** A short line at the foot of the page that goes away by itself. */
export function toast(text) {
  const line = h("div", { class: "toast", role: "alert" }, text);
  document.body.append(line);
  setTimeout(() => line.classList.add("leaving"), 4000);
  setTimeout(() => line.remove(), 4400);
}

// Creates elements. Text is always inserted as text, never parsed as markup.

/**
 * h("button", { class: "primary", onclick: f, "aria-label": "…" }, "text", element, …)
 * Properties that start with "on" are listeners. An attribute is omitted if its value is false,
 * null or undefined, and empty if it is true.
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

/**
 * Sets the children of `parent` to `wanted`. Moves only misplaced elements, so that focus, scroll
 * position and animations are kept.
 */
export function arrange(parent, wanted) {
  const keep = new Set(wanted);
  for (const child of [...parent.children]) if (!keep.has(child)) child.remove();
  let at = parent.firstElementChild;
  for (const child of wanted) {
    if (child === at) at = at.nextElementSibling;
    else parent.insertBefore(child, at);
  }
}

/** Shows a short message at the bottom of the page for some seconds. */
export function toast(text) {
  const line = h("div", { class: "toast", role: "alert" }, text);
  document.body.append(line);
  setTimeout(() => line.classList.add("leaving"), 4000);
  setTimeout(() => line.remove(), 4400);
}

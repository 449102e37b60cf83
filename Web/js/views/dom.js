// Creates elements. Text is always inserted as text, never parsed as markup.

const SVG = "http://www.w3.org/2000/svg";

/**
 * h("button", { class: "primary", onclick: f, "aria-label": "…" }, "text", element, …)
 *
 * Properties that start with "on" are listeners. `style` is an object of custom properties and
 * styles, set through the CSSOM so that no style attribute is needed. An attribute is omitted if
 * its value is false, null or undefined, and empty if it is true.
 */
export function h(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

export function svg(tag, properties = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, item] of Object.entries(value)) element.style.setProperty(key, String(item));
    else if (name === "value" || name === "checked" || name === "selected") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  append(element, children);
  return element;
}

export function append(element, children) {
  for (const child of children.flat(2)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

/** Replaces the children of `element`. */
export function replace(element, ...children) {
  element.replaceChildren();
  return append(element, children);
}

/**
 * Returns an image, which is requested a second time after 3 s if it could not be loaded, such as
 * while the session is renewed, and is removed after the second failure.
 */
export function remoteImage(src, properties = {}) {
  let failures = 0;
  const image = h("img", { alt: "", decoding: "async", src, ...properties, onerror: () => {
    failures += 1;
    if (failures === 1) setTimeout(() => { image.src = src; }, 3000);
    else image.remove();
  } });
  return image;
}

let identifiers = 0;

/** Returns an element id that no other element of the page has. */
export function uniqueID(prefix) {
  identifiers += 1;
  return `${prefix}-${identifiers}`;
}

/** Collects functions that end subscriptions, listeners and timers of a view. */
export class Scope {
  #ends = [];

  add(end) {
    if (end) this.#ends.push(end);
  }

  listen(target, type, listener, options) {
    target.addEventListener(type, listener, options);
    this.add(() => target.removeEventListener(type, listener, options));
  }

  close() {
    for (const end of this.#ends.splice(0)) end();
  }
}

/**
 * Returns a function that calls `action` once in the next animation frame, however often it is
 * called.
 */
export function perFrame(action) {
  let pending = 0;
  return () => {
    if (pending) return;
    pending = requestAnimationFrame(() => {
      pending = 0;
      action();
    });
  };
}

/** Announces a text to screen readers, in the polite live region. */
export function announce(text) {
  const region = document.getElementById("live");
  if (region) region.textContent = text;
}
